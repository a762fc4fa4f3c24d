"""Opening and closing sessions: open → closing → ended or expired.

Synchronous functions, called inside a ``lab_scope``. Study time comes from the participant's clock
at the wall time that is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django_q.tasks import async_task

from chat.memories import kind_of
from chat.models import Message, Reply
from chat.models.message import message_id
from experiments.enums import Clock, Closed, ParticipantState, SessionState
from experiments.models import Participant, Session
from experiments.schedule import Slot, Standing
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind, handler_of
from memlab.core.ledger import Job, JobKind
from memlab.core.values import Role
from questionnaires.course import schedule_of

FINISHED = (SessionState.ENDED, SessionState.COMPLETE, SessionState.EXPIRED)
TOUCH_AFTER = timedelta(seconds=20)


class StageNotOpen(Exception):
    """The stage can't be entered now; ``standing`` says how it stands."""

    def __init__(self, standing: Standing) -> None:
        super().__init__(f"The stage is not open: {standing}.")
        self.standing = standing


@dataclass(frozen=True, slots=True)
class Entered:
    """A session to talk in, and whether this call has opened it."""

    session: Session
    opened: bool


def enter_stage(participant: Participant, stage_key: str, *, wall: datetime) -> Entered:
    """The participant's session of a stage, opened if it isn't yet. Safe to repeat.

    The arm is drawn here if the stage is the first with manipulation, and the memory of the stages
    before is backfilled. Raises StageNotOpen outside the window.
    """
    participant = Participant.objects.select_for_update().get(pk=participant.pk)
    existing = participant.sessions.filter(stage_key=stage_key).first()
    if existing is not None:
        return Entered(existing, opened=False)
    now = participant.study_time(wall)
    slot = _open_slot(participant, stage_key, now=now)
    if participant.has_left_chat:
        return Entered(_without_talk(participant, slot, now=now), opened=True)
    if slot.stage.manipulation:
        allocate(participant, now=now)
    session = Session.objects.create(
        participant=participant,
        version=participant.version,
        stage_key=stage_key,
        number=participant.sessions.count() + 1,
        manipulation=slot.stage.manipulation,
        started_at=now,
        last_activity_at=now,
        window_closes_at=slot.finish_by,
    )
    if slot.stage.opening_line:
        add_assistant_line(session, slot.stage.opening_line, at=now, wall=wall)
    plan_closing(session)
    if session.manipulation:
        _begin(session, participant)
    return Entered(session, opened=True)


def _without_talk(participant: Participant, slot: Slot, *, now: datetime) -> Session:
    """The stage of somebody who has left the conversations: over before a word is said, so that
    what comes after it can be asked. No arm is drawn for it, and no memory begins."""
    return Session.objects.create(
        participant=participant,
        version=participant.version,
        stage_key=slot.stage.key,
        number=participant.sessions.count() + 1,
        manipulation=False,
        state=SessionState.ENDED,
        closed_by=Closed.WITHDRAWN,
        started_at=now,
        last_activity_at=now,
        ended_at=now,
    )


def _begin(session: Session, participant: Participant) -> None:
    """What a memory does when a session starts, as a step committed with the session: it is done
    before the first turn's recall, and once."""
    arm = participant.arm()
    if arm is None or not kind_of(arm).begins:
        return
    Job.objects.enqueue(
        lab_id=session.lab_id,
        kind=JobKind.BEGIN,
        participant=participant.public_id,
        subject=session.id,
        study_at=session.started_at,
    )
    plan_steps(participant)


def _open_slot(participant: Participant, stage_key: str, *, now: datetime) -> Slot:
    if participant.state != ParticipantState.ACTIVE or participant.paused_at is not None:
        raise StageNotOpen(Standing.LATER)
    for slot in schedule_of(participant, now=now):
        if slot.stage.key == stage_key:
            if slot.standing not in (Standing.OPEN, Standing.IN_PROGRESS):
                raise StageNotOpen(slot.standing)
            return slot
    raise StageNotOpen(Standing.LATER)


def allocate(participant: Participant, *, now: datetime) -> None:
    """Draw the arm, and let its architecture catch up on every session so far. Safe to repeat."""
    participant.allocate(study_at=now)
    remember_finished(participant)


def remember_finished(participant: Participant) -> None:
    """Plan the consolidation of every finished session; those planned before stay as they are."""
    for session in participant.sessions.filter(state__in=FINISHED).order_by("number"):
        _remember(session, participant)


def add_assistant_line(session: Session, text: str, *, at: datetime, wall: datetime) -> Message:
    """Store a line of the assistant that answers nothing, such as the scripted opening."""
    session.last_seq += 1
    session.save(update_fields=["last_seq"])
    return Message.objects.create(
        id=message_id(session.id, session.last_seq),
        session=session,
        seq=session.last_seq,
        role=Role.ASSISTANT,
        text=text,
        at=at,
        recorded_at=wall,
    )


def touch(session_id: UUID, *, wall: datetime) -> None:
    """The participant is there: put idleness off."""
    session = Session.objects.select_for_update().get(pk=session_id)
    now = session.participant.study_time(wall)
    if session.state == SessionState.OPEN and now - session.last_activity_at >= TOUCH_AFTER:
        session.last_activity_at = now
        session.save(update_fields=["last_activity_at"])
        plan_closing(session)


def plan_closing(session: Session) -> None:
    """Keep the session's one due row at the moment when it closes by itself."""
    way = session.closing(session.stage)
    if way is None:
        Due.objects.settle(lab_id=session.lab_id, kind=DueKind.SESSION, subject=session.id)
        return
    Due.objects.plan(
        lab_id=session.lab_id,
        kind=DueKind.SESSION,
        subject=session.id,
        study_at=way[0],
        wall_at=session.participant.wall_time(way[0]),
    )


def close_if_due(session_id: UUID, *, wall: datetime) -> SessionState:
    """Close the session if its time has come, at the study time when it came."""
    session = Session.objects.select_for_update().get(pk=session_id)
    if session.state == SessionState.OPEN:
        way = session.closing(session.stage)
        if way is not None and way[0] <= session.participant.study_time(wall):
            close(session, way[1], at=way[0])
        else:
            plan_closing(session)
    elif session.state == SessionState.CLOSING:
        settle(session)
    else:
        Due.objects.settle(lab_id=session.lab_id, kind=DueKind.SESSION, subject=session.id)
    return SessionState(session.state)


def close(session: Session, reason: Closed, *, at: datetime) -> None:
    """Refuse messages and Retry from now on; ended as soon as nothing is pending.

    The caller holds the session's row lock.
    """
    session.state, session.closed_by, session.ended_at = SessionState.CLOSING, reason, at
    session.save(update_fields=["state", "closed_by", "ended_at"])
    settle(session)


def settle(session: Session) -> None:
    """End a closing session whose replies are all settled, and plan its consolidation.

    The caller holds the session's row lock.
    """
    if session.state != SessionState.CLOSING or Reply.objects.pending().filter(session=session):
        return
    for reply in Reply.objects.filter(session=session, retryable=True):
        reply.give_up()
    expired = session.closed_by == Closed.WINDOW
    session.state = SessionState.EXPIRED if expired else SessionState.ENDED
    last = Message.objects.filter(session=session).order_by("-seq").first()
    if last is not None and session.ended_at is not None:
        session.ended_at = max(session.ended_at, last.at)  # a reply may settle after the close
    session.save(update_fields=["state", "ended_at"])
    Due.objects.settle(lab_id=session.lab_id, kind=DueKind.SESSION, subject=session.id)
    session.participant.follow_windows_at(session.ended_at)
    if session.closed_by != Closed.WITHDRAWN and session.participant.allocations.exists():
        _remember(session, session.participant)


def withdraw(participant: Participant, *, wall: datetime) -> list[Session]:
    """Close the conversations of somebody who withdraws, at once; the sessions that were open.

    What is being made is fenced off and comes to nothing. All sessions are locked first, before
    the participant, as everywhere.
    """
    sessions = list(participant.sessions.select_for_update(of=("self",)).order_by("number"))
    open_ones = [s for s in sessions if s.state in (SessionState.OPEN, SessionState.CLOSING)]
    for session in open_ones:
        for reply in Reply.objects.pending().filter(session=session):
            reply.withdraw()
        at = session.ended_at or participant.study_time(wall)
        close(session, Closed.WITHDRAWN, at=at)
    return open_ones


def expire(session: Session) -> None:
    """What comes after the conversation wasn't finished in time. Safe to repeat.

    The caller holds the session's row lock.
    """
    if session.state == SessionState.ENDED:
        session.state = SessionState.EXPIRED
        session.save(update_fields=["state"])


def extend(session: Session, finish_by: datetime) -> None:
    """Keep a conversation under way open until its stage's later end, in which its pauses are
    counted.

    The caller holds the session's row lock.
    """
    if session.state == SessionState.OPEN and session.window_closes_at is not None:
        without_pauses = finish_by - session.stood_still
        session.window_closes_at = max(session.window_closes_at, without_pauses)
        session.save(update_fields=["window_closes_at"])
        plan_closing(session)


def complete(session: Session) -> None:
    """Everything that belongs to the stage is stored."""
    if session.state == SessionState.ENDED:
        session.state = SessionState.COMPLETE
        session.save(update_fields=["state"])


def _remember(session: Session, participant: Participant) -> None:
    """Commit the consolidation of a session as a pending step, together with its cause."""
    assert session.ended_at is not None
    Job.objects.enqueue(
        lab_id=session.lab_id,
        kind=JobKind.CONSOLIDATE,
        participant=participant.public_id,
        subject=session.id,
        study_at=session.ended_at,
    )
    plan_steps(participant)


def plan_steps(participant: Participant) -> None:
    """Have the task cluster run the participant's pending steps: now, and again if that is lost."""
    if participant.clock == Clock.SCRIPTED:
        return  # a replay runs them itself
    lab_id, subject = participant.lab_id, participant.public_id
    Due.objects.plan(
        lab_id=lab_id,
        kind=DueKind.STEPS,
        subject=subject,
        study_at=None,
        wall_at=wall_now() + timedelta(seconds=30),
    )
    transaction.on_commit(lambda: async_task(handler_of(DueKind.STEPS), lab_id, str(subject)))
