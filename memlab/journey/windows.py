"""Following a participant's windows: what time has done to their stages is written down.

Whoever comes first does it, the tick or the participant's own visit, and the second finds nothing
to do. All of it is one transaction, so a process that dies leaves it undone, with its due row in
place.
"""

from __future__ import annotations

from datetime import datetime

from chat import sessions
from experiments.enums import ParticipantState, SessionState
from experiments.models import Participant, Session, WindowMark
from experiments.schedule import OverMark, Slot, Standing
from memlab.journey import reminders, timetable
from questionnaires import responses

SETTLED = (SessionState.COMPLETE, SessionState.EXPIRED)


def follow(participant: Participant, *, wall: datetime) -> list[Slot]:
    """Bring the participant's stages up to ``wall``, plan what comes next, and return the stages.

    Sessions whose time is over are closed, what was missed or not finished is marked, reminders are
    planned, and the one due row is put at the next opening or end. Whoever is no longer on their
    way misses nothing. Safe to repeat.
    """
    _close_sessions(participant, wall=wall)
    locked = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if locked.version is None or locked.consented_at is None:
        return []
    now = locked.study_time(wall)
    stages = timetable.stages_of(locked, now=now)
    active = locked.state == ParticipantState.ACTIVE
    for slot in stages if active else []:
        if slot.standing in (Standing.MISSED, Standing.LAPSED):
            _mark(locked, slot)
    reminders.plan(locked, stages if active else [], wall=wall)
    changes = [change for slot in stages if (change := slot.next_change(now)) is not None]
    locked.follow_windows_at(min(changes, default=None) if active else None)
    return stages


def _close_sessions(participant: Participant, *, wall: datetime) -> None:
    """Sessions are locked before their participant, in the order in which the conversation does."""
    unfinished = participant.sessions.exclude(state__in=SETTLED).order_by("number")
    for session in unfinished.select_for_update():
        if session.state != SessionState.ENDED:
            sessions.close_if_due(session.pk, wall=wall)


def _mark(participant: Participant, slot: Slot) -> None:
    """Write down that the stage was lost. What it left open is closed with it."""
    session = participant.sessions.filter(stage_key=slot.stage.key).first()
    at = slot.closes_at if slot.standing is Standing.MISSED else slot.finish_by
    if at is None:  # a session that expired by an end it was given at its start
        assert session is not None
        assert session.ended_at is not None
        at = session.ended_at
    mark = OverMark(standing=slot.standing, at=at)
    if not WindowMark.objects.all().note(participant, slot.stage.key, mark):
        return
    responses.expire(participant, slot.stage.key, now=at)
    if session is not None:
        sessions.expire(Session.objects.select_for_update().get(pk=session.pk))
