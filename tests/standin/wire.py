"""Bodies and events in the two wire formats, as the real services write them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Protocol

from tests.standin.script import Answer, Fault, ScriptedCall

_FRAGMENT = 7


class Wire(Protocol):
    """One wire format."""

    def error(self, code: str, message: str) -> bytes: ...
    def event(self, number: int, answer: Answer, text: str) -> bytes: ...
    def tool_events(self, number: int, answer: Answer) -> Iterator[bytes]: ...
    def finish(self, number: int, answer: Answer, reason: str) -> bytes: ...
    def error_event(self, number: int, code: str, message: str) -> bytes: ...
    def broken_event(self, number: int) -> bytes: ...
    def whole(self, answer: Answer, reason: str) -> bytes: ...
    def embeddings(self, answer: Answer, body: dict[str, Any]) -> bytes: ...


def _compact(value: Any) -> str:
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if any("\ud800" <= character <= "\udfff" for character in plain):
        return json.dumps(value, separators=(",", ":"))  # a half pair can only be escaped
    return plain


def _fragments(call: ScriptedCall) -> Iterator[str]:
    for start in range(0, max(len(call.arguments), 1), _FRAGMENT):
        yield call.arguments[start : start + _FRAGMENT]


def pseudo_vector(text: str, dimensions: int) -> list[float]:
    """A vector that depends on the text alone; not normalised, as some servers answer."""
    digest = hashlib.shake_256(text.encode()).digest(2 * dimensions)
    return [
        int.from_bytes(digest[i : i + 2], "big") / 32768 - 1 for i in range(0, 2 * dimensions, 2)
    ]


def _vectors(answer: Answer, texts: list[str], dimensions: int) -> list[list[float]]:
    if answer.fault is Fault.WRONG_DIMENSION:
        dimensions -= 1
    vectors = [pseudo_vector(text, answer.dimensions or dimensions) for text in texts]
    if answer.fault is Fault.WRONG_COUNT:
        vectors = vectors[:-1]
    if answer.fault is Fault.NAN:
        vectors[-1][0] = float("nan")
    return vectors


class DashScope:
    """DashScope's native protocol: `output`, `parameters`, `event:` lines without a space."""

    request_id = "5c1d0f8e-standin"

    def error(self, code: str, message: str) -> bytes:
        return _compact({"code": code, "message": message, "request_id": self.request_id}).encode()

    def _body(self, message: dict[str, Any], reason: str) -> dict[str, Any]:
        return {
            "output": {"choices": [{"message": message, "finish_reason": reason}]},
            "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
            "request_id": self.request_id,
        }

    def _framed(self, number: int, kind: str, status: int, data: str) -> bytes:
        return f"id:{number}\nevent:{kind}\n:HTTP_STATUS/{status}\ndata:{data}\n\n".encode()

    def event(self, number: int, answer: Answer, text: str) -> bytes:
        message = {"role": "assistant", "content": text}
        return self._framed(number, "result", 200, _compact(self._body(message, "null")))

    def tool_events(self, number: int, answer: Answer) -> Iterator[bytes]:
        for place, call in enumerate(answer.tool_calls):
            index = place if call.index is None else call.index
            for part, fragment in enumerate(_fragments(call)):
                function = {"arguments": fragment} | _named(call, part)
                piece = {"index": index, "id": call.id if part == 0 else "", "type": "function"}
                message = {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [piece | {"function": function}],
                }
                yield self._framed(number, "result", 200, _compact(self._body(message, "null")))
                number += 1

    def finish(self, number: int, answer: Answer, reason: str) -> bytes:
        body = self._body({"role": "assistant", "content": ""}, reason)
        return self._framed(number, "result", 200, _compact(body))

    def error_event(self, number: int, code: str, message: str) -> bytes:
        return self._framed(number, "error", 400, self.error(code, message).decode())

    def broken_event(self, number: int) -> bytes:
        return self._framed(number, "result", 200, '{"output":{"choices":[{"mess')

    def whole(self, answer: Answer, reason: str) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(answer.streamed)}
        if answer.tool_calls:
            message["tool_calls"] = [_whole_call(call) for call in answer.tool_calls]
        return _compact(self._body(message, reason)).encode()

    def embeddings(self, answer: Answer, body: dict[str, Any]) -> bytes:
        texts = body["input"]["texts"]
        dimensions = body.get("parameters", {}).get("dimension", 1024)
        rows = [
            {"text_index": index, "embedding": vector}
            for index, vector in enumerate(_vectors(answer, texts, dimensions))
        ]
        # The order on the wire is the provider's business: the index counts.
        rows.reverse()
        return _compact(
            {
                "output": {"embeddings": rows},
                "usage": {"total_tokens": len(texts)},
                "request_id": self.request_id,
            }
        ).encode()


class OpenAI:
    """OpenAI's chat completions and embeddings."""

    id = "chatcmpl-standin"

    def error(self, code: str, message: str) -> bytes:
        return _compact(
            {"error": {"message": message, "type": code, "code": code, "param": None}}
        ).encode()

    def _chunk(self, answer: Answer, delta: dict[str, Any], reason: str | None) -> bytes:
        body = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": answer.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        return f"data: {_compact(body)}\n\n".encode()

    def event(self, number: int, answer: Answer, text: str) -> bytes:
        role = {"role": "assistant"} if number == 1 else {}
        return self._chunk(answer, role | {"content": text}, None)

    def tool_events(self, number: int, answer: Answer) -> Iterator[bytes]:
        for place, call in enumerate(answer.tool_calls):
            index = place if call.index is None else call.index
            for part, fragment in enumerate(_fragments(call)):
                function = {"arguments": fragment} | _named(call, part)
                named = {"id": call.id, "type": "function"} if part == 0 else {}
                piece = {"index": index} | named | {"function": function}
                yield self._chunk(answer, {"tool_calls": [piece]}, None)

    def finish(self, number: int, answer: Answer, reason: str) -> bytes:
        usage = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": answer.model,
            "choices": [],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
        return self._chunk(answer, {}, reason) + f"data: {_compact(usage)}\n\n".encode()

    def error_event(self, number: int, code: str, message: str) -> bytes:
        return b"data: " + self.error(code, message) + b"\n\n"

    def broken_event(self, number: int) -> bytes:
        return b'data: {"id":"chatcmpl-standin","choices":[{"del\n\n'

    def whole(self, answer: Answer, reason: str) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(answer.streamed)}
        if answer.tool_calls:
            message["tool_calls"] = [_whole_call(call) for call in answer.tool_calls]
        return _compact(
            {
                "id": self.id,
                "object": "chat.completion",
                "created": 1_790_000_000,
                "model": answer.model,
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
            }
        ).encode()

    def embeddings(self, answer: Answer, body: dict[str, Any]) -> bytes:
        texts = body["input"]
        rows = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(_vectors(answer, texts, body.get("dimensions", 768)))
        ]
        rows.reverse()
        return _compact(
            {
                "object": "list",
                "data": rows,
                "model": answer.model,
                "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)},
            }
        ).encode()


def _named(call: ScriptedCall, part: int) -> dict[str, str]:
    """The name comes with a call's first fragment."""
    return {"name": call.name} if call.name and part == 0 else {}


def _whole_call(call: ScriptedCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
