"""What happens in the moment in which somebody withdraws: everything that must stop has stopped
when the transaction commits. The heavy part is ``memlab.research.erasure``'s."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from asgiref.sync import async_to_sync
from django.db import transaction
from django_q.tasks import async_task

from chat import doorbell, sessions
from chat.conversation import over_frame
from experiments.enums import ParticipantState, WithdrawalKind, WithdrawnBy
from experiments.models import Participant, Session, Withdrawal
from experiments.models.withdrawal import REMOVING, new_receipt_code, receipt_hash
from memlab.core.due import DueKind, handler_of
from memlab.core.erasure import stop_work
from memlab.core.personal import Person
from memlab.journey import debriefing, stages

#: Due work that belongs to conversations; the rest goes on for who has left those only.
OF_CONVERSATIONS = (DueKind.REPLY, DueKind.SESSION, DueKind.STEPS, DueKind.MAINTAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """A wish that is kept. ``code`` opens the receipt and is stored nowhere; empty where the kind
    removes nothing, or the wish was known already."""

    withdrawal: Withdrawal
    code: str = ""


def withdraw(
    participant: Participant,
    kind: WithdrawalKind,
    *,
    by: WithdrawnBy,
    wall: datetime,
    user_id: int | None = None,
    reason: str = "",
    code: str = "",
) -> Withdrawn:
    """Stop what must stop and plan the rest, in the caller's transaction. Safe to repeat.

    What was completed or missed until now is written down first, for afterwards nothing is. After a
    restore it isn't: the wish is older than what time has done since.

    ``code`` is the receipt's, if the person was given it beforehand; else a new one is made.

    Raises ValidationError for a reason that is too long, or if the participant has gone further.
    """
    if by is not WithdrawnBy.REPLAY:
        # All of them, before their participant, whom following locks.
        list(participant.sessions.select_for_update(of=("self",)).order_by("number"))
        stages.follow(participant, wall=wall)
    closed = sessions.withdraw(participant, wall=wall)
    row = Participant.objects.select_for_update().get(pk=participant.pk)
    # A stage may have been entered in another tab as long as we didn't hold the participant.
    closed += sessions.withdraw(row, wall=wall)
    known = Withdrawal.objects.filter(participant=row, kind=kind).exists()
    code = (code or new_receipt_code()) if kind in REMOVING and not known else ""
    withdrawal = Withdrawal.objects.request(
        row,
        kind,
        by=by,
        wall=wall,
        user_id=user_id,
        reason=reason,
        code_hash=receipt_hash(code) if code else "",
    )
    _stop(row, kind, wall=wall)
    for session in closed:
        _tell(session)
    lab_id, subject = withdrawal.lab_id, str(withdrawal.pk)
    transaction.on_commit(lambda: async_task(handler_of(DueKind.WITHDRAWAL), lab_id, subject))
    return Withdrawn(withdrawal=withdrawal, code=code)


def _stop(participant: Participant, kind: WithdrawalKind, *, wall: datetime) -> None:
    person = person_of(participant).with_rows()
    if kind is WithdrawalKind.CHAT:
        if participant.chat_left_at is None:
            participant.leave_chat(now=participant.study_time(wall))
        stop_work(person, kinds=OF_CONVERSATIONS)
        if participant.state == ParticipantState.ACTIVE:  # perhaps nothing is left to be done
            participant.follow_windows_at(participant.study_time(wall))
    else:
        if participant.state != ParticipantState.WITHDRAWN:
            participant.withdraw()
        stop_work(person)
        if kind is WithdrawalKind.ALL:  # who is anonymised or erased can't be told any more
            debriefing.plan(participant, wall=wall)


def person_of(participant: Participant) -> Person:
    """The participant as the rules of erasure and subject access know them."""
    return Person(
        lab_id=participant.lab_id,
        pk=participant.pk,
        public_id=participant.public_id,
        code=participant.code,
    )


def _tell(session: Session) -> None:
    """Every open tab of the conversation leaves it, once it is certain."""
    frame = over_frame(session)
    assert frame is not None, "It has been closed."
    transaction.on_commit(partial(async_to_sync(doorbell.ring), session.pk, frame))
