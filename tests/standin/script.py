"""What the stand-in is told to answer: plain values, writable as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class Fault(StrEnum):
    """The ways in which providers fail."""

    STATUS = "status"  # an error status with `code`, and `retry_after` if set
    HANG_BEFORE_HEADERS = "hang_before_headers"
    HANG_BEFORE_FIRST_TOKEN = "hang_before_first_token"
    HANG_BETWEEN_TOKENS = "hang_between_tokens"  # after `after` pieces
    HANG_AFTER_FINISH = "hang_after_finish"
    CUT_BEFORE_HEADERS = "cut_before_headers"
    CUT = "cut"  # the connection is dropped after `after` pieces
    ERROR_IN_STREAM = "error_in_stream"  # status 200, then an error event after `after` pieces
    CONTENT_FILTER = "content_filter"  # refused before anything is streamed
    CONTENT_FILTER_IN_STREAM = "content_filter_in_stream"
    TRUNCATED = "truncated"
    MALFORMED_CHUNK = "malformed_chunk"  # broken JSON after `after` pieces
    MISSING_FINISH = "missing_finish"  # an orderly end without a finish reason
    EMPTY = "empty"
    NOT_A_STREAM = "not_a_stream"  # status 200, but a web page
    WRONG_DIMENSION = "wrong_dimension"
    WRONG_COUNT = "wrong_count"
    NAN = "nan"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call that the model is to ask for; its arguments are streamed in fragments.

    Without a ``name`` it has none on the wire. ``index`` is its place in the message unless a
    server counts otherwise.
    """

    id: str
    name: str
    arguments: str
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One scripted answer. `match`: only for a request whose body contains this text.

    With `tool_calls` nothing is said but `pieces`, before them; `after` counts on through the
    fragments of the calls.
    """

    text: str = "你好 from the stand-in."
    pieces: tuple[str, ...] = ()
    tool_calls: tuple[ScriptedCall, ...] = ()
    fault: Fault | None = None
    after: int = 2
    status: int = 503
    code: str = "ServiceUnavailable"
    retry_after: str | None = None
    delay: float = 0.0
    first_delay: float = 0.0
    model: str = "standin-2026-11-01"
    dimensions: int | None = None
    match: str | None = None

    @property
    def streamed(self) -> tuple[str, ...]:
        """The pieces of the reply: given ones, else words and single Chinese characters."""
        if self.pieces or self.tool_calls:
            return self.pieces
        return tuple(re.findall(r"[^\s\u4e00-\u9fff]+\s*|[\u4e00-\u9fff]|\s+", self.text))

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Answer:
        """An answer from a script file; unknown names are refused."""
        unknown = set(written) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"unknown names in a scripted answer: {', '.join(sorted(unknown))}")
        values = dict(written)
        if "fault" in values and values["fault"] is not None:
            values["fault"] = Fault(values["fault"])
        if "pieces" in values:
            values["pieces"] = tuple(values["pieces"])
        if "tool_calls" in values:
            values["tool_calls"] = tuple(ScriptedCall(**call) for call in values["tool_calls"])
        return cls(**values)
