"""Decay as compression: what time does to a memory, and what a mention does.

A memory loses content step by step, full → summary → tag → trace → archive, and weight
continuously. Both are counted from its last activation: its creation, or the last mention that it
was merged with. Symbols: w weight in [0, 1], t days since w was set, similarity in [0, 1] (the
calibrated relevance of a new statement to the memory).

Every function is pure, takes keywords only, and raises ValueError for values out of range. Levels
are accepted as plain strings. The numbers are those of the protocol for compression and mention;
the hyperbolic decay is that of Wixted & Ebbesen (1991), the keeping of the gist that of Brainerd
& Reyna (1990).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.formulas.bounds import not_negative, within


class Level(StrEnum):
    """How much of a memory is left, from all of it down to the mere fact that it is archived."""

    FULL = "full"
    SUMMARY = "summary"
    TAG = "tag"
    TRACE = "trace"
    ARCHIVE = "archive"

    @property
    def holds_text(self) -> bool:
        """Whether sentences are left at this level, rather than tags or less."""
        return self in (Level.FULL, Level.SUMMARY)


class MergeStrategy(StrEnum):
    """What becomes of a new statement and of the memory that is most similar to it."""

    MERGE_UPDATE = "merge_update"
    KEEP_BOTH = "keep_both"
    CREATE_NEW = "create_new"


class UpdateTrigger(StrEnum):
    """What changed a memory."""

    PASSIVE_DECAY = "passive_decay"
    USER_MENTION = "user_mention"
    MANUAL_EDIT = "manual_edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateDecision:
    """What a mention does, from similarity alone: ``should_upgrade_level`` is about levels below
    summary; what a given level comes to says ``upgraded_level``."""

    strategy: MergeStrategy
    should_refresh_timestamp: bool
    should_upgrade_level: bool
    reason: str
    similarity_score: float


#: Downwards, one step each.
LOWER: Final = {
    Level.FULL: Level.SUMMARY,
    Level.SUMMARY: Level.TAG,
    Level.TAG: Level.TRACE,
    Level.TRACE: Level.ARCHIVE,
}
HIGHER: Final = {lower: higher for higher, lower in LOWER.items()}


def weight(*, initial: float, elapsed_days: float, rate: float = 0.01) -> float:
    """w(t) = w₀/(1 + rate·t), in [0, 1]; ``rate`` is 0 or more, per day."""
    within("initial", initial, 0.0, 1.0)
    not_negative("elapsed_days", elapsed_days)
    not_negative("rate", rate)
    return initial / (1.0 + rate * elapsed_days)


def leaving_age(
    *,
    level: str,
    summary_after: float = 7.0,
    tag_after: float = 30.0,
    trace_after: float = 90.0,
    archive_after: float = 180.0,
) -> float | None:
    """The age, in days, at which a memory leaves a level for the next lower one; None for the
    archive, which nothing leaves by itself. ``…_after`` are 0 or more and never descend."""
    ages = [summary_after, tag_after, trace_after, archive_after]
    for age in ages:
        not_negative("each age", age)
    if ages != sorted(ages):
        raise ValueError(f"The ages at which a memory is compressed must ascend, not {ages!r}.")
    return dict(zip(LOWER, ages, strict=True)).get(Level(level))


def due_level(
    *,
    level: str,
    age_days: float,
    summary_after: float = 7.0,
    tag_after: float = 30.0,
    trace_after: float = 90.0,
    archive_after: float = 180.0,
) -> Level:
    """The lower of the present level and the level for that age: time never raises a level.

    ``age_days`` since the last activation, 0 or more; at 7 days to the instant a memory is due as
    a summary.
    """
    not_negative("age_days", age_days)
    due = Level(level)
    while (
        leaving := leaving_age(
            level=due,
            summary_after=summary_after,
            tag_after=tag_after,
            trace_after=trace_after,
            archive_after=archive_after,
        )
    ) is not None and age_days >= leaving:
        due = LOWER[due]
    return due


def boosted_weight(
    *,
    weight: float,
    similarity: float,
    high: float = 0.85,
    medium: float = 0.60,
    high_boost: float = 0.6,
    medium_boost: float = 0.3,
    low_boost: float = 0.1,
) -> float:
    """The weight after a mention, in [0, 1].

    From ``high`` on the memory gains ``high_boost`` of what it lacks, from ``medium`` on
    ``medium_boost`` of it, below that ``low_boost`` outright.
    """
    within("weight", weight, 0.0, 1.0)
    _check_bands(similarity, high, medium)
    within("high_boost", high_boost, 0.0, 1.0)
    within("medium_boost", medium_boost, 0.0, 1.0)
    within("low_boost", low_boost, 0.0, 1.0)
    if similarity >= high:
        gain = high_boost * (1.0 - weight)
    elif similarity >= medium:
        gain = medium_boost * (1.0 - weight)
    else:
        gain = low_boost
    return min(1.0, weight + gain)


def upgraded_level(
    *,
    level: str,
    similarity: float,
    to_full: float = 0.95,
    to_summary: float = 0.90,
    to_tag: float = 0.90,
    to_trace: float = 0.90,
) -> Level:
    """The level after a mention: one higher if the similarity is above its threshold."""
    within("similarity", similarity, 0.0, 1.0)
    thresholds = {
        Level.FULL: within("to_full", to_full, 0.0, 1.0),
        Level.SUMMARY: within("to_summary", to_summary, 0.0, 1.0),
        Level.TAG: within("to_tag", to_tag, 0.0, 1.0),
        Level.TRACE: within("to_trace", to_trace, 0.0, 1.0),
    }
    present = Level(level)
    higher = HIGHER.get(present)
    if higher is None or similarity <= thresholds[higher]:
        return present
    return higher


def decide(
    *, similarity: float, high: float = 0.85, medium: float = 0.60, upgrade: float = 0.90
) -> UpdateDecision:
    """What a new statement does to the memory most similar to it.

    Only a merge refreshes the timestamp. ``upgrade`` is the similarity above which levels below
    summary rise.
    """
    _check_bands(similarity, high, medium)
    within("upgrade", upgrade, 0.0, 1.0)
    if similarity >= high:
        strategy, reason = MergeStrategy.MERGE_UPDATE, f"similarity {similarity:.2f} ≥ {high:.2f}"
    elif similarity >= medium:
        strategy = MergeStrategy.KEEP_BOTH
        reason = f"{medium:.2f} ≤ similarity {similarity:.2f} < {high:.2f}"
    else:
        strategy, reason = MergeStrategy.CREATE_NEW, f"similarity {similarity:.2f} < {medium:.2f}"
    merges = strategy is MergeStrategy.MERGE_UPDATE
    return UpdateDecision(
        strategy=strategy,
        should_refresh_timestamp=merges,
        should_upgrade_level=merges and similarity > upgrade,
        reason=reason,
        similarity_score=similarity,
    )


def _check_bands(similarity: float, high: float, medium: float) -> None:
    within("similarity", similarity, 0.0, 1.0)
    within("high", high, 0.0, 1.0)
    within("medium", medium, 0.0, high)
