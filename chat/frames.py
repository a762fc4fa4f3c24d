"""The socket's frames: a client's checked by hand against the shapes of docs/protocol.md, frozen
values out; the server's written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

LARGEST_SEQ = 2**31 - 1


class BadFrame(Exception):
    """A frame that can't be read. ``code`` is one of the protocol's error codes; ``client_id`` is
    there if the frame was a readable ``say``."""

    def __init__(self, code: str, client_id: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.client_id = client_id


@dataclass(frozen=True, slots=True)
class Hello:
    settled_seq: int


@dataclass(frozen=True, slots=True)
class Say:
    client_id: UUID
    text: str


@dataclass(frozen=True, slots=True)
class Retry:
    seq: int


@dataclass(frozen=True, slots=True)
class Typing:
    pass


@dataclass(frozen=True, slots=True)
class End:
    pass


Frame = Hello | Say | Retry | Typing | End


def written(frame: dict[str, Any]) -> str:
    """A frame of the server's as it goes out."""
    return json.dumps(frame, ensure_ascii=False)


def read(raw: str | None) -> Frame:
    """A client's frame; raises BadFrame."""
    if raw is None:
        raise BadFrame("bad_frame")
    if len(raw.encode("utf-8", "surrogatepass")) > settings.CHAT_FRAME_BYTES:
        raise BadFrame("too_large")
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadFrame("bad_frame") from None
    if not isinstance(fields, dict):
        raise BadFrame("bad_frame")
    return _typed(fields)


def _typed(fields: dict[str, Any]) -> Frame:
    match fields:
        case {"type": "hello", "settled_seq": seq, **rest} if not rest:
            return Hello(_number(seq, least=0))
        case {"type": "say", "client_id": str(client_id), "text": str(text), **rest} if not rest:
            return Say(_uuid(client_id), _clean(text, client_id))
        case {"type": "retry", "seq": seq, **rest} if not rest:
            return Retry(_number(seq, least=1))
        case {"type": "typing", **rest} if not rest:
            return Typing()
        case {"type": "end", **rest} if not rest:
            return End()
    raise BadFrame("bad_frame")


def _number(value: Any, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST_SEQ:
        raise BadFrame("bad_frame")
    return value


def _uuid(value: str) -> UUID:
    try:
        parsed = UUID(value)
    except ValueError:
        raise BadFrame("bad_frame") from None
    if str(parsed) != value.lower():
        raise BadFrame("bad_frame")
    return parsed


def _clean(text: str, client_id: str) -> str:
    """The text without surrounding white space; what Postgres can't store is refused."""
    text = text.strip()
    if not text:
        raise BadFrame("empty", client_id)
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise BadFrame("bad_frame", client_id)
    if len(text) > settings.CHAT_MESSAGE_CHARACTERS:
        raise BadFrame("too_long", client_id)
    return text
