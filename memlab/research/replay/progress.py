"""How far a replay is: one changing line on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TextIO

REDRAW = 0.2  # seconds between two drawings of the changing line
REPEAT = 30.0  # seconds between two lines where there is no terminal


class Progress:
    """Told what begins and ends; writes to ``out``. Times are wall time, for people only."""

    def __init__(self, out: TextIO = sys.stderr, *, dialogues: int, architectures: int) -> None:
        self._out = out
        self._live = out.isatty()
        self._dialogues, self._architectures = dialogues, architectures
        self._started = self._row_started = time.monotonic()
        self._drawn = self._started
        self.turns = 0
        self._sessions = self._session = 0
        self._what = ""

    def begins(
        self, *, dialogue: str, number: int, architecture: str, place: int, sessions: int
    ) -> None:
        self._what = (
            f"dialogue {number}/{self._dialogues} {dialogue} · "
            f"{architecture} ({place}/{self._architectures})"
        )
        self._row_started = time.monotonic()
        self.turns, self._session, self._sessions = 0, 0, sessions

    def session(self, number: int) -> None:
        self._session = number
        self._draw(f"session {number}/{self._sessions}")

    def turn(self) -> None:
        self.turns += 1
        self._draw(f"session {self._session}/{self._sessions} · {self._rate():.0f} turns/s")

    def probes(self, count: int) -> None:
        self._draw(f"{count} probes")

    def ends(self) -> float:
        """Close the row; its seconds."""
        seconds = time.monotonic() - self._row_started
        self._write(f"{self._what} · {self.turns} messages · {seconds:.1f} s", last=True)
        return seconds

    def note(self, text: str) -> None:
        self._write(text, last=True)

    def total(self) -> float:
        return time.monotonic() - self._started

    def _rate(self) -> float:
        return self.turns / max(time.monotonic() - self._row_started, 1e-9)

    def _draw(self, how: str) -> None:
        now = time.monotonic()
        if now - self._drawn >= (REDRAW if self._live else REPEAT):
            self._drawn = now
            self._write(f"{self._what} · {how}", last=False)

    def _write(self, text: str, *, last: bool) -> None:
        if self._live:
            self._out.write(f"\r\x1b[K{text}" + ("\n" if last else ""))
        else:
            self._out.write(f"{text}\n")
        self._out.flush()
