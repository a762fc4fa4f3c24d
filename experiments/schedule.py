"""Which stage a participant stands before: gaps, windows, and what comes when. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from experiments.configuration import StageConfiguration
from experiments.zones import put_off


class Standing(StrEnum):
    """How a stage stands for a participant at some moment."""

    LATER = "later"
    OPEN = "open"  # nobody has begun it
    IN_PROGRESS = "in_progress"  # begun: a questionnaire before it, its conversation, or after it
    DONE = "done"
    MISSED = "missed"  # its window closed and it had never been begun
    LAPSED = "lapsed"  # begun, and not finished in time
    FORGONE = "forgone"  # never opens, because a stage before it was missed

    @property
    def over(self) -> bool:
        """Nothing more happens in this stage."""
        return self not in (Standing.LATER, Standing.OPEN, Standing.IN_PROGRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMark:
    """What the schedule has to know of a session.

    ``ended_at`` is when the conversation ended, None while it is under way. ``finished``: nothing
    is asked any more after it. ``expired``: it, or what comes after it, wasn't finished in time.
    ``stood_still``: for how long it was paused, by which the time to finish is put off.
    """

    ended_at: datetime | None
    finished: bool = True
    expired: bool = False
    stood_still: timedelta = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True)
class OverMark:
    """That a stage was missed or lapsed. Once it was noticed this stays, whatever changes."""

    standing: Standing
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What a participant has done and what happened to them, by the keys of stages.

    ``begun``: when a questionnaire before the conversation was first answered. ``extended``: until
    when staff have extended a window. All in study time; ``zone`` is where times of day are read.
    """

    consented_at: datetime
    zone: str = "UTC"
    sessions: Mapping[str, SessionMark] = field(default_factory=dict)
    begun: Mapping[str, datetime] = field(default_factory=dict)
    extended: Mapping[str, datetime] = field(default_factory=dict)
    over: Mapping[str, OverMark] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One stage with its window in study time; ``opens_at`` is None until the one before ends.

    Until ``closes_at`` the stage can be begun, and until ``finish_by`` what was begun can be
    finished; both are None without a limit.
    """

    stage: StageConfiguration
    standing: Standing
    opens_at: datetime | None
    closes_at: datetime | None
    finish_by: datetime | None = None

    def next_change(self, now: datetime) -> datetime | None:
        """When time alone changes how the stage stands; None if it never does."""
        awaited = {
            Standing.LATER: self.opens_at,
            Standing.OPEN: self.closes_at,
            Standing.IN_PROGRESS: self.finish_by,
        }.get(self.standing)
        return awaited if awaited is not None and awaited > now else None


def slots(
    stages: Sequence[StageConfiguration],
    course: Course,
    *,
    now: datetime,
    ends_on_missed: bool = False,
) -> list[Slot]:
    """Every stage in order.

    The gap counts from the end of the conversation before. A stage that was missed or lapsed passes
    on the moment at which its time was over, so that missing one doesn't end the follow-up, unless
    ``ends_on_missed``.
    """
    result: list[Slot] = []
    before: datetime | None = course.consented_at
    ended = False
    for stage in sorted(stages, key=lambda stage: stage.number):
        slot = _slot(stage, course, before=before, now=now)
        if ended and slot.standing is Standing.LATER:
            slot = Slot(stage=stage, standing=Standing.FORGONE, opens_at=None, closes_at=None)
        result.append(slot)
        lost = slot.standing in (Standing.MISSED, Standing.LAPSED)
        ended = ended or (ends_on_missed and lost)
        before = None if ended else _end(slot, course)
    return result


def _slot(
    stage: StageConfiguration, course: Course, *, before: datetime | None, now: datetime
) -> Slot:
    opens, closes = _window(stage, course, before)
    session = course.sessions.get(stage.key)
    stood_still = timedelta() if session is None else session.stood_still
    finish = None
    if closes is not None:
        finish = closes + timedelta(hours=stage.finish_hours) + stood_still
    return Slot(
        stage=stage,
        standing=_standing(stage.key, course, opens=opens, closes=closes, finish=finish, now=now),
        opens_at=opens,
        closes_at=closes,
        finish_by=finish,
    )


def _window(
    stage: StageConfiguration, course: Course, before: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Opening and closing. Hours are hours, whatever the clocks do meanwhile; then both moments are
    put off to their times of day. An extension never shortens."""
    if before is None:
        return None, None
    earliest = before + timedelta(hours=stage.minimum_gap_hours)
    opens = put_off(earliest, stage.opens_at, zone=course.zone)
    if stage.window_hours is None:
        return opens, None
    closes = put_off(opens + timedelta(hours=stage.window_hours), stage.closes_at, zone=course.zone)
    extended = course.extended.get(stage.key)
    return opens, closes if extended is None else max(closes, extended)


def _standing(
    key: str,
    course: Course,
    *,
    opens: datetime | None,
    closes: datetime | None,
    finish: datetime | None,
    now: datetime,
) -> Standing:
    session, over = course.sessions.get(key), course.over.get(key)
    if over is not None:
        return over.standing
    if session is not None:
        return _standing_of(session, finish=finish, now=now)
    began = course.begun.get(key)
    if began is not None and (closes is None or began < closes):
        return Standing.LAPSED if finish is not None and finish <= now else Standing.IN_PROGRESS
    if opens is None or now < opens:
        return Standing.LATER
    return Standing.MISSED if closes is not None and closes <= now else Standing.OPEN


def _standing_of(session: SessionMark, *, finish: datetime | None, now: datetime) -> Standing:
    if session.expired:
        return Standing.LAPSED
    if session.ended_at is None:
        return Standing.IN_PROGRESS  # it closes by itself, at its own study time
    if session.finished:
        return Standing.DONE
    return Standing.LAPSED if finish is not None and finish <= now else Standing.IN_PROGRESS


def _end(slot: Slot, course: Course) -> datetime | None:
    """What the gap of the next stage counts from; None while there is no such moment."""
    session, over = course.sessions.get(slot.stage.key), course.over.get(slot.stage.key)
    if session is not None:
        return session.ended_at
    if over is not None:
        return over.at
    if slot.standing is Standing.MISSED:
        return slot.closes_at
    return slot.finish_by if slot.standing is Standing.LAPSED else None
