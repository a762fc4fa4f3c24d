"""When a homeostatic memory sleeps, and what a night's log comes to. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from memory.dynamics import Surprise
from memory.enums import SleepTrigger

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """When sleep comes, and what it counts: an arm's parameters of the same names."""

    idle_minutes: float = 30.0
    interval_hours: float = 24.0
    night_hour: int = 3
    high_impact: float = 0.40
    low_impact: float = 0.10
    keep_every: int = 5

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Rhythm:
        return cls(**{field.name: parameters[field.name] for field in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits for sleep: the times of the first and the last logged turn that no sleep has
    consumed, and when the last sleep was."""

    first: datetime
    last: datetime
    slept: datetime | None


def next_sleep(
    waiting: Waiting, *, rhythm: Rhythm, time_zone: str
) -> tuple[datetime, SleepTrigger]:
    """The study time of the next sleep and what sets it off, as far as time alone does.

    After ``idle_minutes`` without a turn; every ``interval_hours`` since the last sleep (or, before
    the first one, since the first turn), an interval that found nothing to consume having passed
    without a trace; and at ``night_hour`` in the study's zone. The earliest counts.
    """
    moments = [
        (waiting.last + timedelta(minutes=rhythm.idle_minutes), SleepTrigger.IDLE),
        (_next_interval(waiting, rhythm.interval_hours), SleepTrigger.INTERVAL),
        (_next_night(waiting.first, rhythm.night_hour, ZoneInfo(time_zone)), SleepTrigger.NIGHT),
    ]
    return min(moments, key=lambda moment: moment[0])


def _next_interval(waiting: Waiting, hours: float) -> datetime:
    interval = timedelta(hours=hours)
    since = waiting.first if waiting.slept is None else waiting.slept
    passed = (waiting.first - since) // interval
    return since + (max(0, passed) + 1) * interval


def _next_night(after: datetime, hour: int, zone: ZoneInfo) -> datetime:
    """The next time at which the clocks of a zone show the hour, later than ``after``."""
    day = after.astimezone(zone).date()
    night = datetime.combine(day, time(hour), zone).astimezone(UTC)
    if night <= after:
        night = datetime.combine(day + _DAY, time(hour), zone).astimezone(UTC)
    return night


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What of a logged turn the statistics need."""

    at: datetime
    surprise: Surprise


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What one sleep finds in the turns that it consumes.

    ``kept`` are the places of the turns that count; means and peaks are None if none does.
    ``low_impact`` counts the turns of low impact, kept or not.
    """

    kept: tuple[int, ...]
    low_impact: int
    high_impact_seconds: float
    mean_reward: float | None = None
    mean_threat: float | None = None
    peak_reward: float | None = None
    peak_threat: float | None = None


def statistics(
    turns: Sequence[Logged], *, until: datetime, low_impact_before: int, rhythm: Rhythm
) -> Statistics:
    """Means, peaks and the time of high impact over the turns of one sleep, oldest first.

    Of the turns with |RPE| below ``low_impact`` every ``keep_every``-th counts, numbered through
    all sleeps: ``low_impact_before`` were there before. A turn of high impact lasts until the next
    one, the last until the sleep at ``until``; idleness keeps that short.
    """
    kept: list[int] = []
    low = 0
    for place, turn in enumerate(turns):
        if turn.surprise.magnitude < rhythm.low_impact:
            low += 1
            if (low_impact_before + low) % rhythm.keep_every:
                continue
        kept.append(place)
    reward = [turns[place].surprise.reward for place in kept]
    threat = [turns[place].surprise.threat for place in kept]
    return Statistics(
        kept=tuple(kept),
        low_impact=low,
        high_impact_seconds=_time_of_high_impact(turns, until, rhythm.high_impact),
        mean_reward=math.fsum(reward) / len(kept) if kept else None,
        mean_threat=math.fsum(threat) / len(kept) if kept else None,
        peak_reward=max(reward, default=None),
        peak_threat=max(threat, default=None),
    )


def _time_of_high_impact(turns: Sequence[Logged], until: datetime, threshold: float) -> float:
    ends = [*(after.at for _turn, after in pairwise(turns)), until]
    return math.fsum(
        (end - turn.at).total_seconds()
        for turn, end in zip(turns, ends, strict=True)
        if turn.surprise.magnitude > threshold
    )
