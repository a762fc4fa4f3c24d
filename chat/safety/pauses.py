"""Pausing a participant and letting them go on, with everything that stands still meanwhile.

Inside a ``lab_scope``. A pause withholds the replies that are still to be made: what an AI would
say to somebody in danger has been checked by nobody, and the card says what helps. Withheld
replies are failed ones that can't be retried, so that no memory learns of them and no turn is used
up. While it lasts nothing closes the session; afterwards its times are put off by its length.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from chat import sessions
from chat.models import Reply
from chat.safety import card, ringing
from experiments.enums import Closed, DeviationKind, SessionState
from experiments.models import Deviation, Participant, Session

UNDER_WAY = (SessionState.OPEN, SessionState.CLOSING)
#: The failure of a reply that wasn't made because of a pause.
WITHHELD = "withheld"
Frames = tuple[dict[str, Any], ...]


def pause(
    participant: Participant,
    *,
    wall: datetime,
    inside: Session | None = None,
    user_id: int | None = None,
    event: str = "",
) -> Frames:
    """Let nothing be said from now on; the frames for the tabs of the session ``inside`` which
    this happens, whose row the caller has locked. Safe to repeat."""
    _under_way(participant)  # their locks come before the participant's
    newly = participant.pause(wall=wall)
    # Looked at again: one may have been entered in another tab until the participant was ours.
    under_way = _under_way(participant)
    others = [each for each in under_way if inside is None or each.pk != inside.pk]
    withheld: Frames = ()
    for session in [*others, *([] if inside is None else [inside])]:
        withheld = _stand_still(session, at=participant.study_time(wall))
        if session is not inside:
            ringing.after_commit(session.id, (*withheld, *card.frames(session)))
    if newly:
        Deviation.objects.record(
            DeviationKind.PAUSED,
            study=participant.study_id,
            participant=participant,
            session=inside,
            user_id=user_id,
            event=event,
        )
    return withheld if inside is not None else ()


def resume(participant: Participant, *, wall: datetime, user_id: int | None = None) -> bool:
    """Let the participant go on; False if they weren't paused."""
    now = participant.study_time(wall)
    for session in _under_way(participant):
        session.go_on(at=now)
        if session.state == SessionState.OPEN:
            sessions.plan_closing(session)
        ringing.after_commit(session.id, card.frames(session))
    if not participant.resume():
        return False
    Deviation.objects.record(
        DeviationKind.RESUMED,
        study=participant.study_id,
        participant=participant,
        user_id=user_id,
    )
    return True


def end_sessions(participant: Participant, *, wall: datetime, user_id: int | None = None) -> int:
    """Close whatever conversation is under way; how many. The pause stays until it is lifted."""
    ended = 0
    for session in _under_way(participant):
        if session.state != SessionState.OPEN:
            continue
        sessions.close(session, Closed.STAFF, at=session.paused_at or participant.study_time(wall))
        Deviation.objects.record(
            DeviationKind.SESSION_CLOSED,
            study=participant.study_id,
            participant=participant,
            session=session,
            user_id=user_id,
        )
        ringing.after_commit(session.id, (), over=True)
        ended += 1
    return ended


def _under_way(participant: Participant) -> Iterable[Session]:
    """The participant's conversations with their row locks, which come before their own."""
    return list(
        Session.objects.with_study()
        .select_for_update(of=("self",))
        .filter(participant=participant, state__in=UNDER_WAY)
        .order_by("number")
    )


def _stand_still(session: Session, *, at: datetime) -> Frames:
    session.pause(at=at)
    pending = Reply.objects.pending().filter(session=session).select_related("message")
    frames = tuple(_withhold(reply) for reply in pending)
    if session.state == SessionState.CLOSING:
        sessions.settle(session)
    else:
        sessions.plan_closing(session)
    return frames


def _withhold(reply: Reply) -> dict[str, Any]:
    reply.fail(WITHHELD, detail="", partial="", retryable=False)
    return {
        "type": "failed",
        "seq": reply.message.seq,
        "attempt": reply.attempt,
        "retryable": False,
    }
