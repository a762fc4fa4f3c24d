"""Hotlines as a study writes them: one a line, ``name | number | when or for whom``. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"\+?[\d\s().\-–/]{2,30}")
_NO_DIGIT = re.compile(r"[^\d+]")


@dataclass(frozen=True, slots=True)
class Hotline:
    """``tel`` is what a phone calls; empty where ``number`` is none, such as an address to write
    to."""

    name: str
    number: str
    when: str

    @property
    def tel(self) -> str:
        if not _NUMBER.fullmatch(self.number):
            return ""
        # "+44 (0)20 …": the 0 is for calls within the country only.
        number = self.number.replace("(0)", "") if self.number.startswith("+") else self.number
        return f"tel:{_NO_DIGIT.sub('', number)}"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that names no hotline, by its place in the text, counted from 1."""

    place: int
    line: str


def parsed(text: str) -> tuple[tuple[Hotline, ...], tuple[BadLine, ...]]:
    """The hotlines of a study, and the lines that are none. Full-width bars count too."""
    found, bad = [], []
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = [part.strip() for part in line.replace("｜", "|").split("|", 2)]
        if len(parts) < 2 or not parts[0] or not re.search(r"\d|@|\w\.\w", parts[1]):
            bad.append(BadLine(place, line.strip()))
            continue
        found.append(Hotline(parts[0], parts[1], parts[2] if len(parts) == 3 else ""))
    return tuple(found), tuple(bad)
