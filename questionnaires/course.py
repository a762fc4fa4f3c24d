"""How a participant's stages stand, from what they have answered and said so far.

Here and not above, because answers are taken only as long as their stage isn't over.
"""

from __future__ import annotations

from datetime import datetime

from experiments.enums import Moment, SessionState
from experiments.models import Participant, Session
from experiments.schedule import Course, SessionMark, Slot, slots
from questionnaires.begun import begun_stages


def schedule_of(participant: Participant, *, now: datetime) -> list[Slot]:
    """Every stage of the participant's version with its window, at study time ``now``."""
    assert participant.version is not None
    configuration = participant.version.configuration
    return slots(
        configuration.stages,
        course_of(participant),
        now=now,
        ends_on_missed=configuration.entry.ends_on_missed,
    )


def course_of(participant: Participant) -> Course:
    """What the participant has done so far, as the schedule needs it."""
    assert participant.version is not None
    assert participant.consented_at is not None
    configuration = participant.version.configuration
    asked = {(placed.moment, placed.stage) for placed in configuration.placements}
    asks_before = any(moment is Moment.BEFORE for moment, _stage in asked)
    return Course(
        consented_at=participant.consented_at,
        zone=participant.zone,
        sessions={
            session.stage_key: _mark(session, asked=(Moment.AFTER, session.stage_key) in asked)
            for session in participant.sessions.all()
        },
        begun=begun_stages(participant) if asks_before else {},
        extended={row.stage_key: row.until for row in participant.extensions.order_by("until")},
        over={row.stage_key: row.as_mark() for row in participant.window_marks.standing()},
    )


def _mark(session: Session, *, asked: bool) -> SessionMark:
    """A closing session is still under way: its last reply belongs to what comes after it. With
    questionnaires after it (``asked``) it isn't finished until it is complete."""
    under_way = session.state in (SessionState.OPEN, SessionState.CLOSING)
    return SessionMark(
        ended_at=None if under_way else session.ended_at,
        finished=session.state == SessionState.COMPLETE or not asked,
        expired=session.state == SessionState.EXPIRED,
        stood_still=session.stood_still,
    )
