"""A recorded dialogue as frozen values, and what has to be said in what order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memlab.core.values import Role

#: Messages inside a session have no times of their own.
SPACING = timedelta(seconds=30)
#: When a probe without a time of its own is asked, after the last session began.
PROBES_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One recorded message; ``id`` is the file's own."""

    id: str
    role: Role
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSession:
    """One recorded conversation; it may be empty."""

    started_at: datetime
    messages: tuple[Message, ...]

    @property
    def ended_at(self) -> datetime:
        return self.messages[-1].at if self.messages else self.started_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question asked after all sessions. ``evidence`` are ids of messages that hold its answer;
    None or empty where none are known."""

    question: str
    asked_at: datetime
    evidence: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """``names`` are the speakers', as far as the file tells them."""

    id: str
    language: str
    sessions: tuple[RecordedSession, ...]
    probes: tuple[Probe, ...]
    names: Mapping[Role, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message of the assistant that answers nothing; ``opening`` where it begins the session."""

    message: Message
    opening: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A message of the participant, and the reply to it unless none was recorded."""

    said: Message
    answered: Message | None


def script(session: RecordedSession) -> Iterator[Line | Exchange]:
    """A session as a live chat would have it: what follows a participant's message at once is its
    reply, every other message of the assistant stands alone."""
    messages = session.messages
    place = 0
    while place < len(messages):
        message = messages[place]
        if message.role is Role.ASSISTANT:
            yield Line(message=message, opening=place == 0)
            place += 1
            continue
        following = messages[place + 1] if place + 1 < len(messages) else None
        answered = following if following and following.role is Role.ASSISTANT else None
        yield Exchange(said=message, answered=answered)
        place += 1 if answered is None else 2
