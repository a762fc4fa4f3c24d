"""Mending JSON that is almost JSON."""

from __future__ import annotations

import json
import re

_TRAILING_COMMA = re.compile(r",\s*([}\]])")
_CLOSING = {"{": "}", "[": "]"}


def repaired_json(broken: str) -> str:
    """The first JSON object in a text, with fences, trailing commas and missing ends mended.

    What can't be mended comes back as it is: the caller finds it as broken as before.
    """
    start = broken.find("{")
    if start < 0:
        return broken
    candidate = _TRAILING_COMMA.sub(r"\1", _closed(broken[start:]))
    try:
        json.loads(candidate)
    except json.JSONDecodeError:
        return broken
    return candidate


def _closed(text: str) -> str:
    """`text` up to the end of its first object; what is open at its end is closed."""
    open_brackets: list[str] = []
    in_string = escaped = False
    for position, character in enumerate(text):
        if escaped:
            escaped = False
        elif in_string:
            escaped = character == "\\"
            in_string = character != '"'
        elif character == '"':
            in_string = True
        elif character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return text[: position + 1]
    return text + ('"' if in_string else "") + "".join(reversed(open_brackets))
