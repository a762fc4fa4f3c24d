"""A participant's stages: what stands before and after a conversation, and how it all ends.

A stage is complete when its conversation has ended, nothing of it is pending, and everything that
is asked before and after it is answered. That, what is paid for it, and what follows from it for
the whole participation are one transaction: a process that dies before its commit leaves the stage
as it was, and the participant's next step, or the due row of their windows, does it then.
Everything here is safe to repeat.

Rows are locked in the conversation's order: the session first, then its participant.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from chat import sessions
from chat.models import Reply
from experiments.enums import Moment, ParticipantState, SessionState
from experiments.models import Participant, Payment, Session
from experiments.schedule import Slot, Standing
from memlab.journey import debriefing, windows
from questionnaires import responses


def follow(participant: Participant, *, wall: datetime) -> list[Slot]:
    """Bring the participant's stages up to ``wall`` and return them; empty before consent.

    Stages of which everything is stored are completed first: whoever answered in time and whose
    last step was lost has not missed anything. Then the windows are followed, and the participation
    is concluded if nothing more can come.
    """
    for session in participant.sessions.filter(state=SessionState.ENDED).order_by("number"):
        _complete(session, wall=wall)
    slots = windows.follow(participant, wall=wall)
    _conclude(participant, slots, wall=wall)
    return slots


def follow_by_id(public_id: UUID, *, wall: datetime) -> None:
    """As ``follow``, for the task; nothing to do where there is no such participant any more."""
    participant = Participant.objects.filter(public_id=public_id).first()
    if participant is not None:
        follow(participant, wall=wall)


def complete_stage(session: Session, *, wall: datetime) -> bool:
    """Complete the session's stage if everything is stored; whether it is complete now."""
    complete = _complete(session, wall=wall)
    follow(session.participant, wall=wall)
    return complete


def is_stored(session: Session) -> bool:
    """Whether everything that belongs to the session's stage is there and settled."""
    participant, key = session.participant, session.stage_key
    return (
        session.state in (SessionState.ENDED, SessionState.COMPLETE)
        and not Reply.objects.pending().filter(session=session).exists()
        and responses.is_complete(participant, Moment.BEFORE, key)
        and responses.is_complete(participant, Moment.AFTER, key)
    )


def _complete(session: Session, *, wall: datetime) -> bool:
    """Write down that the stage is complete, with its payment; whether it stands there now."""
    locked = Session.objects.select_for_update().get(pk=session.pk)
    participant = Participant.objects.select_for_update(no_key=True).get(pk=locked.participant_id)
    if locked.state == SessionState.COMPLETE:
        return True
    if participant.state != ParticipantState.ACTIVE or not is_stored(locked):
        return False
    sessions.complete(locked)
    Payment.objects.earn(locked, now=participant.study_time(wall))
    return True


def conclusion(standings: Sequence[Standing], *, all_complete: bool) -> ParticipantState | None:
    """How a participation ends once nothing more can happen in any stage; None until then.

    Complete is who completed every stage. Who missed one, or didn't finish it, and took part in all
    others has still not seen what the others saw: they count as dropped out, and keep what they
    have earned.
    """
    if not standings or not all(standing.over for standing in standings):
        return None
    return ParticipantState.COMPLETE if all_complete else ParticipantState.DROPPED_OUT


def _conclude(participant: Participant, slots: Sequence[Slot], *, wall: datetime) -> None:
    """Write down that the participation is over, if it is."""
    locked = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if locked.state != ParticipantState.ACTIVE:
        return
    if locked.sessions.filter(state=SessionState.ENDED).exists():
        return  # over for the schedule, which knows no questionnaires that are still to be answered
    complete = locked.sessions.filter(state=SessionState.COMPLETE).count() == len(slots)
    end = conclusion([slot.standing for slot in slots], all_complete=complete)
    if end is None:
        return
    locked.conclude(end)
    debriefing.plan(locked, wall=wall)
