"""Conversations for tests: sessions of (said, answered) pairs, half a minute apart."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, UUID, uuid5

from memlab.core.values import Role, SessionTranscript, Transcript, Turn, Utterance

START = datetime(2027, 3, 1, 10, 0, tzinfo=UTC)


def identified(name: str) -> UUID:
    """The same id for the same name in every test run."""
    return uuid5(NAMESPACE_URL, name)


def said(text: str, *, at: datetime = START, role: Role = Role.PARTICIPANT) -> Utterance:
    return Utterance(id=identified(f"{role}:{at.isoformat()}:{text}"), role=role, text=text, at=at)


def session(
    *pairs: tuple[str, str | None],
    number: int = 1,
    day: float = 0,
    opening: str | None = None,
    name: str = "session",
) -> SessionTranscript:
    """A session ``day`` days after START; a pair whose second part is None got no reply."""
    at = START + timedelta(days=day)
    started = at
    where = identified(f"{name} {number}")
    utterances: list[Utterance] = []
    turns: list[Turn] = []
    if opening is not None:
        utterances.append(said(opening, at=at, role=Role.ASSISTANT))
    for question, reply in pairs:
        at += timedelta(seconds=30)
        utterances.append(said(question, at=at))
        if reply is None:
            continue
        at += timedelta(seconds=30)
        utterances.append(said(reply, at=at, role=Role.ASSISTANT))
        turns.append(
            Turn(
                said=utterances[-2],
                answered=utterances[-1],
                session=where,
                session_number=number,
                stage=f"T{number}",
            )
        )
    return SessionTranscript(
        id=where,
        number=number,
        stage=f"T{number}",
        started_at=started,
        utterances=tuple(utterances),
        turns=tuple(turns),
    )


def after(*earlier: SessionTranscript, day: float | None = None) -> Transcript:
    """A transcript whose current session is just starting."""
    number = len(earlier) + 1
    start = START + timedelta(days=number if day is None else day)
    current = SessionTranscript(
        id=identified(f"current {number}"), number=number, stage=f"T{number}", started_at=start
    )
    return Transcript(earlier=tuple(earlier), current=current)


def end_of(finished: SessionTranscript) -> datetime:
    """When a session ends, for its consolidation."""
    return max((each.at for each in finished.utterances), default=finished.started_at)


def texts(utterances: Iterable[Utterance]) -> list[str]:
    return [utterance.text for utterance in utterances]
