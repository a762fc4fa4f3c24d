"""What two browsers were sent, made comparable: what differs between any two people is taken out.

Named here is everything that may differ: ids, tokens, a person's code, moments of time, and what
the assistant says. What is taken out leaves a mark with its length, for a length could tell too;
only times are told in words of any length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_TOKEN = r"[\w-]{20,}"
_CLOCK = r"(?:\d{1,2}(?::\d\d(?::\d\d)?)?\s?[ap]\.m\.|\d{1,2}:\d\d(?::\d\d)?|noon|midnight)"
_MONTH = r"(?:Jan|Feb|March|April|May|June|July|Aug|Sept|Oct|Nov|Dec)[a-z]*\.?"
_DAY = r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? )?"
#: In this order: a signed value holds dots and colons, a date holds a clock.
_FICKLE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("id", re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")),
    ("signed", re.compile(rf"\.?[\w-]{{8,}}:[\w-]{{4,}}:{_TOKEN}")),
    ("token", re.compile(rf'(?<=csrfmiddlewaretoken" value="){_TOKEN}|(?<=csrftoken=){_TOKEN}')),
    ("token", re.compile(rf"(?<=/join/){_TOKEN}(?=/)|(?<=/stop/){_TOKEN}(?=/)")),
    ("token", re.compile(rf"(?<=[?&]token=){_TOKEN}")),
    ("receipt", re.compile(r"\b[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}\b")),
)
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\w{3}, \d\d[ -]\w{3}[ -]\d{4} \d\d:\d\d:\d\d GMT"
    rf"|{_DAY}{_MONTH} \d{{1,2}}, \d{{4}}(?:, {_CLOCK})?"
    rf"|{_DAY}\d{{1,2}} {_MONTH} \d{{4}}(?:,? {_CLOCK})?"
    rf"|\b{_CLOCK}(?!\w)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One answer of the server; ``asked`` is the request's method and path. ``headers`` are in
    their order, as they were sent."""

    asked: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def same_for_all(exchange: Exchange, own: Mapping[str, str]) -> str:
    """An exchange as it must be in every arm. ``own`` names what belongs to this person alone:
    their code, say, and what it is called."""
    body = exchange.body.decode("utf-8")
    lines = [f"{_plain(exchange.asked, own)} {exchange.status}"]
    for name, value in exchange.headers:
        if name.lower() == "content-length" and value == str(len(exchange.body)):
            value = "‹as long as the body›"
        lines.append(f"{name}: {_plain(value, own)}")
    return "\n".join([*lines, "", _plain(body, own)])


def frame_for_all(frame: Mapping[str, Any]) -> str:
    """A frame of the socket as it must be in every arm: without the assistant's words, times, ids,
    and the numbers that follow from the time that has passed."""
    return json.dumps(_bare(frame), ensure_ascii=False)


def frames_for_all(frames: Iterable[Mapping[str, Any]]) -> list[str]:
    """Frames in their order; the token frames of a reply are one, for they are cut by the clock."""
    told: list[str] = []
    for frame in frames:
        line = frame_for_all({**frame, "n": 0} if frame["type"] == "token" else frame)
        if frame["type"] != "token" or line not in told[-1:]:
            told.append(line)
    return told


#: Properties that follow from the time that has passed, or are the assistant's words.
_PASSING = {"remaining_seconds", "minimum_seconds_left"}


def _bare(frame: Mapping[str, Any]) -> dict[str, Any]:
    said = frame.get("role", "assistant") == "assistant" and frame.get("type") != "message"
    bare: dict[str, Any] = {}
    for name, value in frame.items():
        if name == "text" and said:
            bare[name] = "‹words›"
        elif name in _PASSING and value is not None:
            bare[name] = "‹seconds›"
        elif name == "items":
            bare[name] = [_bare(item) for item in value]
        else:
            bare[name] = _plain(value, {}) if isinstance(value, str) else value
    return bare


def _plain(text: str, own: Mapping[str, str]) -> str:
    for value, name in own.items():
        text = text.replace(value, f"‹{name} {len(value)}›")
    for name, pattern in _FICKLE:
        text = pattern.sub(_marked(name), text)
    return _TIMES.sub("‹time›", text)


def _marked(name: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"‹{name} {len(found[0])}›"
