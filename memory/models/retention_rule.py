"""The rule by which one arm's items stay or leave, in days or in turns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from memory.enums import RetentionUnit
from memory.formulas.retention import archive_after, score

_LATEST = datetime(9999, 12, 31, tzinfo=UTC)
_MOST_TURNS = 1_000_000_000
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of a participation in both units: study time, and how many turns were finished."""

    at: datetime
    turn: int


class Kept(Protocol):
    """What the rule goes by: how important an item is, how often and when it was needed."""

    @property
    def importance(self) -> float: ...
    @property
    def hits(self) -> int: ...
    @property
    def accessed(self) -> Point: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """When an item leaves: at a study time, or once so many turns are finished, or never."""

    at: datetime | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How one arm retains; symbols as in ``memory.formulas.retention``."""

    archive_threshold: float = 0.15
    rate: float = 0.05
    time_unit: RetentionUnit = RetentionUnit.DAYS

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Retention:
        """The rule that an arm's complete parameters describe."""
        given = {name: parameters[name] for name in cls.__slots__}
        return cls(**given | {"time_unit": RetentionUnit(given["time_unit"])})

    def elapsed(self, since: Point, now: Point) -> float:
        """T between two points in this arm's unit; never negative."""
        if self.time_unit is RetentionUnit.TURNS:
            return float(max(0, now.turn - since.turn))
        return max(0.0, (now.at - since.at) / _DAY)

    def score(self, item: Kept, *, now: Point) -> float:
        """I·F − T·R at ``now``."""
        elapsed = self.elapsed(item.accessed, now)
        return score(importance=item.importance, hits=item.hits, elapsed=elapsed, rate=self.rate)

    def score_once_touched(self, item: Kept) -> float:
        """What its score will be right after the next access."""
        return score(importance=item.importance, hits=item.hits + 1, elapsed=0.0, rate=self.rate)

    def leaving(self, *, importance: float, hits: int, since: Point) -> Leaving:
        """When what was last needed at ``since`` leaves the working set."""
        units = archive_after(
            importance=importance, hits=hits, threshold=self.archive_threshold, rate=self.rate
        )
        if self.time_unit is RetentionUnit.TURNS:
            return Leaving(turn=since.turn + math.ceil(units)) if units < _MOST_TURNS else Leaving()
        if units >= (_LATEST - since.at) / _DAY:
            return Leaving()
        return Leaving(at=since.at + timedelta(days=units))
