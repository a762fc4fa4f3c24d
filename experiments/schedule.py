"""Which stage a participant stands before: gaps, windows, and what comes when. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from experiments.configuration import StageConfiguration


class Standing(StrEnum):
    """How a stage stands for a participant at some moment."""

    LATER = "later"
    OPEN = "open"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    MISSED = "missed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMark:
    """What the schedule has to know of a session: when it ended, None while it is under way."""

    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One stage with its window in study time; ``opens_at`` is None until the one before ends."""

    stage: StageConfiguration
    standing: Standing
    opens_at: datetime | None
    closes_at: datetime | None


def slots(
    stages: Sequence[StageConfiguration],
    *,
    consented_at: datetime,
    sessions: Mapping[str, SessionMark],
    now: datetime,
) -> list[Slot]:
    """Every stage in order. The gap counts from the end of the stage before, and a missed stage
    passes on the moment its window closed, so that missing one doesn't end the follow-up."""
    result: list[Slot] = []
    before: datetime | None = consented_at
    for stage in sorted(stages, key=lambda stage: stage.number):
        slot = _slot(stage, before=before, session=sessions.get(stage.key), now=now)
        result.append(slot)
        before = _end(slot, sessions.get(stage.key))
    return result


def _slot(
    stage: StageConfiguration,
    *,
    before: datetime | None,
    session: SessionMark | None,
    now: datetime,
) -> Slot:
    opens = None if before is None else before + timedelta(hours=stage.minimum_gap_hours)
    closes = (
        None
        if opens is None or stage.window_hours is None
        else opens + timedelta(hours=stage.window_hours)
    )
    if session is not None:
        standing = Standing.IN_PROGRESS if session.ended_at is None else Standing.DONE
    elif opens is None or now < opens:
        standing = Standing.LATER
    elif closes is not None and closes <= now:
        standing = Standing.MISSED
    else:
        standing = Standing.OPEN
    return Slot(stage=stage, standing=standing, opens_at=opens, closes_at=closes)


def _end(slot: Slot, session: SessionMark | None) -> datetime | None:
    if session is not None:
        return session.ended_at
    return slot.closes_at if slot.standing is Standing.MISSED else None
