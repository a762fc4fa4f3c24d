"""The conversation as frozen values, read from the rows in one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from chat.models import Message, ReplyState
from experiments.models import Participant, Session
from memlab.core.values import Role, SessionTranscript, Transcript, Turn


def transcript_until(session: Session, *, before_seq: int) -> Transcript:
    """Earlier sessions whole, and the current one up to, not including, ``before_seq``.

    Without manipulation nothing of earlier sessions is ever used, so nothing of it is read.
    """
    sessions = [session]
    if session.manipulation:
        earlier_sessions = Session.objects.filter(
            participant_id=session.participant_id, number__lt=session.number
        )
        sessions = [*earlier_sessions.order_by("number"), session]
    settled = _settled(sessions)
    earlier = [_transcript(each, settled[each.id]) for each in sessions if each.id != session.id]
    current = [entry for entry in settled[session.id] if entry[0].seq < before_seq]
    return Transcript(earlier=tuple(earlier), current=_transcript(session, current))


def session_transcript(session: Session) -> SessionTranscript:
    """One session whole."""
    return _transcript(session, _settled([session])[session.id])


def sessions_of(participant: Participant) -> list[SessionTranscript]:
    """Every session of a participant, oldest first."""
    sessions = list(participant.sessions.order_by("number"))
    settled = _settled(sessions)
    return [_transcript(session, settled[session.id]) for session in sessions]


_Entry = tuple[Message, UUID | None]  # a message, and the question that it answers


def _settled(sessions: Iterable[Session]) -> dict[UUID, list[_Entry]]:
    """The messages of sessions in order. A reply that is pending or failed said nothing."""
    # One statement, for a reply that settles between two would have said nothing, or nothing yet.
    ids = [session.id for session in sessions]
    messages = Message.objects.filter(session__in=ids).with_making().order_by("session_id", "seq")
    entries: dict[UUID, list[_Entry]] = defaultdict(list)
    for message in messages:
        if message.reply_state in (None, ReplyState.DONE):
            entries[message.session_id].append((message, message.question_id))
    return entries


def _transcript(session: Session, entries: list[_Entry]) -> SessionTranscript:
    said = {message.id: message.utterance() for message, _question in entries}
    return SessionTranscript(
        id=session.id,
        number=session.number,
        stage=session.stage_key,
        started_at=session.started_at,
        utterances=tuple(said.values()),
        turns=tuple(
            Turn(
                said=said[question],
                answered=said[message.id],
                session=session.id,
                session_number=session.number,
                stage=session.stage_key,
            )
            for message, question in entries
            if message.role == Role.ASSISTANT and question in said
        ),
    )
