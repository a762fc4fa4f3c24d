"""The conversation as frozen values, read from the rows in one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from chat.models import Message, ReplyState
from experiments.models import Participant, Session
from memlab.core.values import Role, SessionTranscript, Transcript, Turn, Utterance


def transcript_until(session: Session, *, before_seq: int) -> Transcript:
    """Earlier sessions whole, and the current one up to, not including, ``before_seq``.

    Without manipulation nothing of earlier sessions is ever used, so nothing of it is read.
    """
    sessions = [session]
    if session.manipulation:
        earlier_sessions = Session.objects.filter(
            participant_id=session.participant_id, number__lt=session.number
        )
        described = earlier_sessions.only("number", "stage_key", "started_at")
        sessions = [*described.order_by("number"), session]
    settled = _settled(sessions)
    earlier = [_transcript(each, settled[each.id]) for each in sessions if each.id != session.id]
    current = [entry for entry in settled[session.id] if entry[0] < before_seq]
    return Transcript(earlier=tuple(earlier), current=_transcript(session, current))


def session_transcript(session: Session) -> SessionTranscript:
    """One session whole."""
    return _transcript(session, _settled([session])[session.id])


def sessions_of(participant: Participant) -> list[SessionTranscript]:
    """Every session of a participant, oldest first."""
    sessions = list(participant.sessions.order_by("number"))
    settled = _settled(sessions)
    return [_transcript(session, settled[session.id]) for session in sessions]


_Entry = tuple[int, Utterance, UUID | None]  # number, message, and the question that it answers


def _settled(sessions: Iterable[Session]) -> dict[UUID, list[_Entry]]:
    """The messages of sessions in order. A reply that is pending or failed said nothing."""
    # One statement, for a reply that settles between two would have said nothing, or nothing yet.
    ids = [session.id for session in sessions]
    messages = Message.objects.filter(session__in=ids).with_making().order_by("session_id", "seq")
    # Bare values: a long history is read for every turn, and model instances cost the most of it.
    rows = messages.values_list(
        "session_id", "seq", "id", "role", "text", "at", "question_id", "reply_state"
    )
    entries: dict[UUID, list[_Entry]] = defaultdict(list)
    for session, seq, id_, role, text, at, question, state in rows:
        if state in (None, ReplyState.DONE):
            said = Utterance(id=id_, role=Role(role), text=text, at=at)
            entries[session].append((seq, said, question))
    return entries


def _transcript(session: Session, entries: list[_Entry]) -> SessionTranscript:
    said = {utterance.id: utterance for _seq, utterance, _question in entries}
    return SessionTranscript(
        id=session.id,
        number=session.number,
        stage=session.stage_key,
        started_at=session.started_at,
        utterances=tuple(said.values()),
        turns=tuple(
            Turn(
                said=said[question],
                answered=utterance,
                session=session.id,
                session_number=session.number,
                stage=session.stage_key,
            )
            for _seq, utterance, question in entries
            if utterance.role is Role.ASSISTANT and question in said
        ),
    )
