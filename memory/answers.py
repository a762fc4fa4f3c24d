"""Finding the JSON object in what a model wrote: fences and prose around it are tolerated."""

from __future__ import annotations

import json
from typing import Any

#: A model that opens more braces than this before its answer isn't giving one.
MOST_ATTEMPTS = 20


def json_object(text: str, *, holding: str) -> dict[str, Any] | None:
    """The first JSON object in ``text`` with a list under the key ``holding``; None without one."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(MOST_ATTEMPTS):
        if start < 0:
            return None
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(found, dict) and isinstance(found.get(holding), list):
                return found
        start = text.find("{", end)
    return None


def storable(value: object, *, longest: int) -> str | None:
    """A text of 1 to ``longest`` characters on one line that Postgres can store, else None.

    White space of every kind becomes single spaces, so that a line can't pose as a section of a
    prompt. NUL and lone surrogates, which JSON allows, are refused.
    """
    if not isinstance(value, str):
        return None
    line = " ".join(value.split())
    if not 1 <= len(line) <= longest or "\x00" in line:
        return None
    try:
        line.encode()
    except UnicodeEncodeError:
        return None
    return line
