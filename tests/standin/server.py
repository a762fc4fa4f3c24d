"""The stand-in itself: HTTP/1.1 by hand, so that it can break off wherever a provider might."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tests.standin.script import Answer, Fault
from tests.standin.wire import DashScope, OpenAI, Wire

_WIRES: dict[str, tuple[Wire, str]] = {
    "/api/v1/services/aigc/text-generation/generation": (DashScope(), "chat"),
    "/api/v1/services/embeddings/text-embedding/text-embedding": (DashScope(), "embeddings"),
    "/v1/chat/completions": (OpenAI(), "chat"),
    "/v1/embeddings": (OpenAI(), "embeddings"),
}


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """What a client sent. Header names are lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class _Dropped(Exception):
    """The script says to drop the connection here."""


class StandIn:
    """A scripted provider on 127.0.0.1; `start()` and `stop()`, or use it as a context manager."""

    def __init__(self, default: Answer | None = None) -> None:
        self.default = default or Answer()
        self.requests: list[RecordedRequest] = []
        self.port = 0
        self.answering = 0
        self._queue: list[Answer] = []
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def openai_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def dashscope_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1"

    def script(self, answers: Iterable[Answer]) -> None:
        """Answer the next requests so, one each; afterwards with `default`."""
        with self._guard:
            self._queue = list(answers)

    def reset(self) -> None:
        """Forget the script and what was received."""
        with self._guard:
            self._queue, self.requests, self.default = [], [], Answer()

    async def settled(self, *, received: int = 0) -> None:
        """Wait until nothing is being answered, or, given `received`, until so many came."""
        for _ in range(300):
            if len(self.requests) >= received and (received or not self.answering):
                return
            await asyncio.sleep(0.01)
        raise TimeoutError(f"{self.answering} answers open, {len(self.requests)} requests received")

    def start(self, port: int = 0) -> StandIn:
        ready = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(port, ready), name="standin", daemon=True
        )
        self._thread.start()
        if not ready.wait(10):
            raise RuntimeError("the stand-in did not start within 10 s")
        return self

    def stop(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(10)

    def __enter__(self) -> StandIn:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, port: int, ready: threading.Event) -> None:
        asyncio.run(self.serve(port, ready))

    async def serve(self, port: int, ready: threading.Event | None = None) -> None:
        """Serve until stopped; opens a port of its own choice for 0."""
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", port)
        self.port = server.sockets[0].getsockname()[1]
        if ready is not None:
            ready.set()
        await self._stopping.wait()
        server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._converse(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read_request(reader)) is not None:
                await self._answer(request, reader, writer)
        except (_Dropped, ConnectionError, asyncio.IncompleteReadError):
            writer.transport.abort()
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def _next(self, request: RecordedRequest) -> Answer:
        text = json.dumps(request.body, ensure_ascii=False)
        with self._guard:
            self.requests.append(request)
            for position, answer in enumerate(self._queue):
                if answer.match is None or answer.match in text:
                    return self._queue.pop(position)
            return self.default

    async def _answer(
        self, request: RecordedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.path not in _WIRES:
            await _send(writer, 404, b'{"error":"no such path"}')
            return
        wire, door = _WIRES[request.path]
        answer = self._next(request)
        self.answering += 1
        exchange = _Exchange(wire, answer, request, reader, writer)
        try:
            await (exchange.embeddings() if door == "embeddings" else exchange.chat())
        finally:
            self.answering -= 1


class _Exchange:
    """One request being answered."""

    def __init__(
        self,
        wire: Wire,
        answer: Answer,
        request: RecordedRequest,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.wire = wire
        self.answer = answer
        self.request = request
        self.reader = reader
        self.writer = writer
        self.number = 0

    async def embeddings(self) -> None:
        if not await self._refused():
            await _send(self.writer, 200, self.wire.embeddings(self.answer, self.request.body))

    async def chat(self) -> None:
        if await self._refused():
            return
        fault = self.answer.fault
        reason = "tool_calls" if self.answer.tool_calls else "stop"
        reason = "length" if fault is Fault.TRUNCATED else reason
        if fault is Fault.NOT_A_STREAM:
            await _send(self.writer, 200, b"<html>Welcome</html>", kind="text/html")
        elif self.request.body.get("stream") or "x-dashscope-sse" in self.request.headers:
            await self._stream(reason)
        else:
            await _send(self.writer, 200, self.wire.whole(self.answer, reason))

    async def _refused(self) -> bool:
        """Whether the script answers with an error, or not at all, before the headers."""
        answer = self.answer
        match answer.fault:
            case Fault.HANG_BEFORE_HEADERS:
                await self._hang()
            case Fault.CUT_BEFORE_HEADERS:
                raise _Dropped
            case Fault.CONTENT_FILTER:
                body = self.wire.error(self._filter_code(), "inappropriate content")
                await _send(self.writer, 400, body)
                return True
            case Fault.STATUS:
                extra = {} if answer.retry_after is None else {"Retry-After": answer.retry_after}
                body = self.wire.error(answer.code, "as the script says")
                await _send(self.writer, answer.status, body, extra=extra)
                return True
        return False

    def _filter_code(self) -> str:
        return "DataInspectionFailed" if isinstance(self.wire, DashScope) else "content_filter"

    async def _stream(self, reason: str) -> None:
        self.writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\nX-Request-Id: req-standin\r\n\r\n"
        )
        await self.writer.drain()
        fault = self.answer.fault
        if fault is Fault.HANG_BEFORE_FIRST_TOKEN:
            await self._hang()
        await asyncio.sleep(self.answer.first_delay)
        await self._events()
        if fault is not Fault.MISSING_FINISH:
            await self._chunk(self.wire.finish(self.number, self.answer, reason))
        if fault is Fault.HANG_AFTER_FINISH:
            await self._hang()
        if isinstance(self.wire, OpenAI):
            await self._chunk(b"data: [DONE]\n\n")
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def _events(self) -> None:
        pieces = () if self.answer.fault is Fault.EMPTY else self.answer.streamed
        said = (
            self.wire.event(number, self.answer, piece) for number, piece in enumerate(pieces, 1)
        )
        called = self.wire.tool_events(len(pieces) + 1, self.answer)
        for position, event in enumerate(chain(said, called)):
            if position == self.answer.after:
                await self._fail_in_stream()
            if position and self.answer.delay:
                await asyncio.sleep(self.answer.delay)
            self.number += 1
            await self._chunk(event)

    async def _fail_in_stream(self) -> None:
        match self.answer.fault:
            case Fault.HANG_BETWEEN_TOKENS:
                await self._hang()
            case Fault.CUT:
                raise _Dropped
            case Fault.MALFORMED_CHUNK:
                await self._chunk(self.wire.broken_event(self.number))
            case Fault.ERROR_IN_STREAM:
                await self._chunk(
                    self.wire.error_event(self.number, self.answer.code, "as scripted")
                )
            case Fault.CONTENT_FILTER_IN_STREAM:
                code = self._filter_code()
                await self._chunk(self.wire.error_event(self.number, code, "inappropriate content"))

    async def _chunk(self, event: bytes) -> None:
        self.writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        await self.writer.drain()

    async def _hang(self) -> None:
        """Say nothing until the client gives up."""
        await self.reader.read()
        raise _Dropped


async def _read_request(reader: asyncio.StreamReader) -> RecordedRequest | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
        if name
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    path = first.split(" ")[1].partition("?")[0]
    return RecordedRequest(path, headers, json.loads(body) if body else {})


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    *,
    kind: str = "application/json",
    extra: dict[str, str] | None = None,
) -> None:
    lines = [
        f"HTTP/1.1 {status} Scripted",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in (extra or {}).items()),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
