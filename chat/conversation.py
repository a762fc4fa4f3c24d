"""What a participant can do in a conversation: say, retry, look, finish.

Each function is one unit of work with its ``lab_scope`` inside and is safe to repeat. Making the
reply is ``chat.generation``'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from chat import sessions
from chat.models import Message, Reply, ReplyState
from chat.models.message import MessageInMaking, message_id
from chat.safety import card, events
from experiments.access import ParticipantRef
from experiments.enums import Closed, ParticipantState, SessionState
from experiments.models import Session
from memlab.core.tenancy import lab_scope
from memlab.core.values import Role

# How long a process that stored a message has before others look after its reply.
FIRST_LOOK = timedelta(seconds=5)


class Refusal(StrEnum):
    """Why something a participant did was refused: the error codes of docs/protocol.md."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    CONFLICT = "conflict"
    NOT_OPEN = "not_open"
    PAUSED = "paused"
    NOT_RETRYABLE = "not_retryable"


class Refused(Exception):
    def __init__(self, code: Refusal) -> None:
        super().__init__(str(code))
        self.code = code


class NoSuchSession(Exception):
    """There is none, or it is not this participant's: nobody is told which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRef:
    """A session as its owner knows it."""

    lab_id: int
    participant: UUID
    session: UUID

    @classmethod
    def of(cls, owner: ParticipantRef, session: UUID) -> SessionRef:
        return cls(lab_id=owner.lab_id, participant=owner.participant, session=session)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A stored message and the place of its reply. ``repeated``: it was stored before.

    ``followed_by`` are frames for all tabs that go out after the message: a crisis card, and the
    replies that are withheld because of it.
    """

    client_id: UUID
    seq: int
    reply_seq: int
    reply: UUID
    text: str
    at: datetime
    repeated: bool
    followed_by: tuple[dict[str, Any], ...] = ()

    def ack_frame(self) -> dict[str, Any]:
        return {
            "type": "ack",
            "client_id": str(self.client_id),
            "seq": self.seq,
            "reply_seq": self.reply_seq,
        }

    def message_frame(self) -> dict[str, Any]:
        return {
            "type": "message",
            "seq": self.seq,
            "client_id": str(self.client_id),
            "text": self.text,
            "reply_seq": self.reply_seq,
            "at": stamp(self.at),
        }


def say(reference: SessionRef, *, client_id: UUID, text: str, wall: datetime) -> Said:
    """Store a message and its pending reply together. Raises Refused, NoSuchSession."""
    with lab_scope(reference.lab_id):
        stored = store(reference, client_id=client_id, text=text, wall=wall, hold=False)
        return stored.said


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A stored message with its rows; ``held`` if an attempt at the new reply was begun too."""

    said: Said
    session: Session
    reply: Reply
    held: bool = False


def store(
    reference: SessionRef, *, client_id: UUID, text: str, wall: datetime, hold: bool
) -> Stored:
    """Store a message and its pending reply, inside the caller's ``lab_scope``.

    With ``hold`` the reply is stored as held by the caller, unless an earlier one is still
    pending. Raises Refused, NoSuchSession.
    """
    text = text.strip()
    _check_text(text)
    session = _locked(reference)
    earlier = list(Reply.objects.bearing_on(session, client_id))
    for reply in earlier:
        if reply.question.client_id == client_id:
            return _stored_before(session, reply, text)
    _check_open(session, wall=wall)
    for reply in earlier:
        if reply.retryable:
            reply.give_up()
    first = not any(reply.state == ReplyState.PENDING for reply in earlier)
    return _store(session, client_id=client_id, text=text, wall=wall, hold=hold and first)


def retry(reference: SessionRef, *, seq: int, wall: datetime) -> UUID:
    """Make a failed reply pending again; its id. Raises Refused, NoSuchSession."""
    with lab_scope(reference.lab_id):
        session = _locked(reference)
        _check_open(session, wall=wall)
        reply = Reply.objects.filter(session=session, message__seq=seq).first()
        if reply is None or reply.state != ReplyState.FAILED or not reply.retryable:
            raise Refused(Refusal.NOT_RETRYABLE)
        reply.reopen(wall=wall)
        return reply.id


def finish(reference: SessionRef, *, wall: datetime) -> bool:
    """Close the session for the participant if its minima are met; whether it is closing now.

    A pause counts for none of them, nor for the conversation's length.
    """
    with lab_scope(reference.lab_id):
        session = _locked(reference)
        if session.state != SessionState.OPEN:
            return True
        now = session.participant.study_time(wall)
        if timer_frame(session, now=now)["missing"]:
            return False
        sessions.close(session, Closed.PARTICIPANT, at=session.paused_at or now)
        return True


def touch(reference: SessionRef, *, wall: datetime) -> None:
    """The participant is writing."""
    with lab_scope(reference.lab_id):
        sessions.touch(_locked(reference).id, wall=wall)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A session as its participant may see it: frames of docs/protocol.md, ready to send."""

    history: dict[str, Any]
    timer: dict[str, Any]
    over: dict[str, Any] | None
    language: str


def view(reference: SessionRef, *, settled_seq: int, wall: datetime) -> View:
    """Everything above ``settled_seq``, the timer, and whether the stage is over."""
    with lab_scope(reference.lab_id):
        session = _find(reference)
        # One statement: a reply that settles between two would show as an empty, settled one.
        messages = list(Message.objects.filter(session=session).with_making().order_by("seq"))
        history = {
            "type": "history",
            "settled_seq": _settled_seq(messages),
            "items": [_item(message) for message in messages if message.seq > settled_seq],
        }
        if session.state == SessionState.CLOSING:
            history["draining"] = True
        if session.paused_at is not None:
            history["paused"] = True
        shown = card.of_session(session)
        if shown is not None:
            history["card"] = shown
        return View(
            history=history,
            timer=timer_frame(session, now=session.participant.study_time(wall)),
            over=over_frame(session),
            language=session.version.configuration.language,
        )


def timer_frame(session: Session, *, now: datetime) -> dict[str, Any]:
    """The server-kept time and what is still missing to finish."""
    stage = session.stage
    ends = session.ends_at(stage)
    if session.paused_at is not None:
        ends = None  # it stands still, and nobody knows for how long
    talked = session.talked_for(now=now).total_seconds()
    missing_seconds = max(0, stage.minimum_minutes * 60 - talked)
    missing = [
        name
        for name, lacks in (
            ("turns", session.turns < stage.minimum_turns),
            ("time", missing_seconds > 0),
        )
        if lacks
    ]
    return {
        "type": "timer",
        "ends_at": None if ends is None else stamp(ends),
        "remaining_seconds": None if ends is None else max(0, int((ends - now).total_seconds())),
        "turns": session.turns,
        "minimum_turns": stage.minimum_turns,
        "maximum_turns": stage.maximum_turns,
        "minimum_seconds_left": int(missing_seconds),
        "may_finish": not missing,
        "missing": missing,
    }


def over_frame(session: Session) -> dict[str, Any] | None:
    """The frame that ends a stage, once it has ended."""
    if session.state in (SessionState.OPEN, SessionState.CLOSING):
        return None
    return {"type": "stage_over", "next_url": reverse("journey:after", args=[session.id])}


def stamp(moment: datetime) -> str:
    """A moment as the protocol writes it: ISO 8601, UTC, with a Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _find(reference: SessionRef) -> Session:
    return _one(Session.objects.with_study(), reference)


def _locked(reference: SessionRef) -> Session:
    """The session with its row lock: numbers are drawn and states changed one at a time."""
    return _one(Session.objects.with_study().select_for_update(of=("self",)), reference)


def _one(sessions: QuerySet[Session], reference: SessionRef) -> Session:
    mine = {"lab_id": reference.lab_id, "participant__public_id": reference.participant}
    try:
        return sessions.get(pk=reference.session, **mine)
    except Session.DoesNotExist:
        raise NoSuchSession from None


def _check_text(text: str) -> None:
    if not text:
        raise Refused(Refusal.EMPTY)
    if len(text) > settings.CHAT_MESSAGE_CHARACTERS:
        raise Refused(Refusal.TOO_LONG)


def _check_open(session: Session, *, wall: datetime) -> None:
    """Enrolment and stage are looked at anew for every message."""
    if session.paused_at is not None:
        raise Refused(Refusal.PAUSED)
    way = session.closing(session.stage)
    over = way is not None and way[0] <= session.participant.study_time(wall)
    person = session.participant
    enrolled = person.state == ParticipantState.ACTIVE and not person.has_left_chat
    if session.state != SessionState.OPEN or over or not enrolled:
        raise Refused(Refusal.NOT_OPEN)
    stage = session.stage
    if stage.maximum_turns is not None and _asked(session) >= stage.maximum_turns:
        raise Refused(Refusal.NOT_OPEN)


def _asked(session: Session) -> int:
    """Turns that are used or under way."""
    return Reply.objects.filter(session=session).exclude(state=ReplyState.FAILED).count()


def _stored_before(session: Session, reply: Reply, text: str) -> Stored:
    if reply.question.text != text:
        raise Refused(Refusal.CONFLICT)
    return Stored(said=_said(reply.question, reply, repeated=True), session=session, reply=reply)


def _store(session: Session, *, client_id: UUID, text: str, wall: datetime, hold: bool) -> Stored:
    now = session.participant.study_time(wall)
    seq = session.last_seq + 1
    session.last_seq, session.last_activity_at = seq + 1, now
    session.save(update_fields=["last_seq", "last_activity_at"])
    common = {"lab_id": session.lab_id, "session": session, "at": now, "recorded_at": wall}
    question, answer = Message.objects.bulk_create(
        [
            Message(
                id=message_id(session.id, seq),
                seq=seq,
                role=Role.PARTICIPANT,
                text=text,
                client_id=client_id,
                **common,
            ),
            Message(
                id=message_id(session.id, seq + 1),
                seq=seq + 1,
                role=Role.ASSISTANT,
                text="",
                **common,
            ),
        ]
    )
    reply = Reply(
        id=answer.id, session=session, message=answer, question=question, lab_id=session.lab_id
    )
    if hold:
        reply.hold(wall=wall)
    reply.save(force_insert=True)
    reply.plan(wall=reply.lease_until or wall + FIRST_LOOK)
    sessions.plan_closing(session)
    followed_by = events.look_at(question, session, wall=wall)
    held = hold and session.paused_at is None
    said = _said(question, reply, repeated=False, followed_by=followed_by)
    return Stored(said=said, session=session, reply=reply, held=held)


def _said(
    question: Message,
    reply: Reply,
    *,
    repeated: bool,
    followed_by: tuple[dict[str, Any], ...] = (),
) -> Said:
    assert question.client_id is not None
    return Said(
        client_id=question.client_id,
        seq=question.seq,
        reply_seq=reply.message.seq,
        reply=reply.id,
        text=question.text,
        at=question.at,
        repeated=repeated,
        followed_by=followed_by,
    )


def _settled_seq(messages: list[MessageInMaking]) -> int:
    """The highest number up to which nothing will change any more."""
    settled = 0
    for message in messages:
        if message.reply_state == ReplyState.PENDING or message.reply_retryable:
            break
        settled = message.seq
    return settled


def _item(message: MessageInMaking) -> dict[str, Any]:
    item: dict[str, Any] = {
        "seq": message.seq,
        "role": message.role,
        "text": message.text,
        "state": "settled",
        "at": stamp(message.at),
    }
    if message.client_id is not None:
        item["client_id"] = str(message.client_id)
    if message.reply_state is not None:
        item["attempt"] = message.reply_attempt
        if message.reply_state == ReplyState.PENDING:
            item["state"] = "pending"
        elif message.reply_state == ReplyState.FAILED:
            item |= {"state": "failed", "retryable": message.reply_retryable}
    return item
