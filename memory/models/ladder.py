"""What one arm's parameters make of the formulas of compression and mention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from memory.formulas import compression
from memory.formulas.compression import Level, UpdateDecision

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Ages, decay, thresholds and boosts of one arm; symbols as in ``formulas.compression``."""

    summary_after: float = 7.0
    tag_after: float = 30.0
    trace_after: float = 90.0
    archive_after: float = 180.0
    decay_rate: float = 0.01
    high_similarity: float = 0.85
    medium_similarity: float = 0.60
    upgrade_to_full: float = 0.95
    upgrade_to_summary: float = 0.90
    upgrade_to_tag: float = 0.90
    upgrade_to_trace: float = 0.90
    high_boost: float = 0.6
    medium_boost: float = 0.3
    low_boost: float = 0.1
    boost_without_merge: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Ladder:
        """The ladder that an arm's complete parameters describe.

        No level is reached before the one above it, nor does a statement merge below what keeps
        both: an age or threshold that is out of order counts as the one it should not pass.
        """
        given = {name: parameters[name] for name in cls.__slots__}
        ages = ("summary_after", "tag_after", "trace_after", "archive_after")
        ascending = accumulate((given[age] for age in ages), max)
        medium = min(given["medium_similarity"], given["high_similarity"])
        return cls(
            **given | dict(zip(ages, ascending, strict=True)) | {"medium_similarity": medium}
        )

    def due_at(self, level: str, activated_at: datetime) -> datetime | None:
        """The study time at which a memory leaves a level for the next lower one."""
        age = compression.leaving_age(
            level=level,
            summary_after=self.summary_after,
            tag_after=self.tag_after,
            trace_after=self.trace_after,
            archive_after=self.archive_after,
        )
        return None if age is None else activated_at + timedelta(days=age)

    def weight(self, weight: float, weighed_at: datetime, now: datetime) -> float:
        """The weight at ``now`` of a memory that had ``weight`` at ``weighed_at``."""
        elapsed = max(0.0, (now - weighed_at) / DAY)
        return compression.weight(initial=weight, elapsed_days=elapsed, rate=self.decay_rate)

    def boosted(self, weight: float, similarity: float) -> float:
        return compression.boosted_weight(
            weight=weight,
            similarity=similarity,
            high=self.high_similarity,
            medium=self.medium_similarity,
            high_boost=self.high_boost,
            medium_boost=self.medium_boost,
            low_boost=self.low_boost,
        )

    def upgraded(self, level: Level, similarity: float) -> Level:
        return compression.upgraded_level(
            level=level,
            similarity=similarity,
            to_full=self.upgrade_to_full,
            to_summary=self.upgrade_to_summary,
            to_tag=self.upgrade_to_tag,
            to_trace=self.upgrade_to_trace,
        )

    def decide(self, similarity: float) -> UpdateDecision:
        return compression.decide(
            similarity=similarity,
            high=self.high_similarity,
            medium=self.medium_similarity,
            upgrade=self.upgrade_to_summary,
        )

    def noted(self, similarity: float) -> dict[str, Any]:
        """A decision as the log keeps it."""
        decision = self.decide(similarity)
        return {
            "strategy": decision.strategy.value,
            "similarity": round(similarity, 6),
            "reason": decision.reason,
        }
