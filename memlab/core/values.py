"""The frozen values that cross the borders between apps.

Nothing here touches the database, a clock or the network. All times are aware datetimes in
*study time* (see docs/architecture.md) unless a name says ``wall``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memlab.core.llm.base import ChatMessage


class Role(StrEnum):
    """Who speaks in a conversation."""

    PARTICIPANT = "participant"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One message of a transcript; ``at`` is the study time at which it was said."""

    id: UUID
    role: Role
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One participant's message and its finished reply, and the session they belong to.

    ``session`` is None, ``session_number`` 0 and ``stage`` empty for a turn outside any session.
    """

    said: Utterance
    answered: Utterance
    session: UUID | None = None
    session_number: int = 0
    stage: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTranscript:
    """All messages of one session in order, and which of them form turns.

    ``utterances`` holds every stored message: opening lines, turns, and messages whose reply
    failed or never came. ``turns`` holds only finished pairs.
    """

    id: UUID
    number: int
    stage: str
    started_at: datetime
    utterances: tuple[Utterance, ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said before (``earlier``, oldest session first) and in the ``current`` session.

    ``question`` is the message that is being answered, which no session holds yet; None where
    what is asked is no stored message (a probe).
    """

    earlier: tuple[SessionTranscript, ...]
    current: SessionTranscript
    question: Utterance | None = None

    def earlier_turns(self) -> Iterator[tuple[SessionTranscript, Turn]]:
        """Finished turns of earlier sessions with their session, oldest first."""
        for session in self.earlier:
            for turn in session.turns:
                yield session, turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A titled block of the prompt, e.g. the profile; ``lines`` are rendered one a line."""

    key: str
    title: str
    lines: tuple[str, ...]

    def rendered(self) -> str:
        return "\n".join((f"[{self.title}]", *self.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReading:
    """How one memory stood towards one query: a line of a receipt.

    ``relevance`` in [0, 1] (calibrated) or a raw cosine, ``elapsed_days`` since the last recall or
    encoding, ``probability`` in [0, 1] or an architecture's own ``score``; ``threshold`` is what
    it was measured against. ``text`` is a snapshot, for the memory itself may change or go.
    """

    kind: str
    id: UUID
    text: str
    recalled: bool
    reason: str
    relevance: float | None = None
    elapsed_days: float | None = None
    probability: float | None = None
    score: float | None = None
    threshold: float | None = None
    message_ids: tuple[UUID, ...] = ()
    stage: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something said, offered to an extraction; ``id`` is the message's public id."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What the tool calls of a turn may rest on: the participant's own words, and where they stand.

    ``present`` is the message that is being answered, its id empty if it is no stored message;
    ``before`` are the participant's messages of the finished turns before it in this session.
    """

    present: Statement
    before: tuple[Statement, ...] = ()
    session: UUID | None = None
    session_number: int | None = None
    stage: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What an architecture brings to one turn.

    ``sections`` go into the prompt, in this order. ``memories`` went into it and are what
    ``commit_recall`` strengthens (``strengthens``, where it differs: see ``random_recall``).
    ``message_ids`` are the messages whose content the sections bring back. ``degraded`` lists
    reasons for which this turn got less than its architecture promises; empty when all is well.
    ``searched`` is false for an architecture that ranks nothing. ``grounds`` are set by one with
    tools.
    """

    at: datetime
    sections: tuple[Section, ...] = ()
    memories: tuple[MemoryReading, ...] = ()
    strengthens: tuple[MemoryReading, ...] = ()
    message_ids: tuple[UUID, ...] = ()
    degraded: tuple[str, ...] = ()
    searched: bool = False
    grounds: Grounds | None = None


class PromptTask(StrEnum):
    """What a prompt asks for. The offline model answers by task; real models read the words."""

    REPLY = "reply"
    EXTRACT_PROFILE = "extract_profile"
    RATE_SALIENCE = "rate_salience"
    REPAIR_JSON = "repair_json"
    EXTRACT_STATEMENTS = "extract_statements"
    SUMMARISE = "summarise"
    MERGE_STATEMENTS = "merge_statements"
    CALL_TOOLS = "call_tools"
    WRITE_LOG = "write_log"
    APPRAISE = "appraise"
    EXTRACT_BINNED = "extract_binned"
    EXTRACT_ITEMS = "extract_items"
    SCREEN_RISK = "screen_risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Everything one model call sees.

    ``system`` is the whole system text with the sections already in it; ``sections`` repeats the
    memory sections for receipts and for the offline model. ``material`` and ``known`` are set for
    extractions only.
    """

    task: PromptTask
    language: str
    system: str
    messages: tuple[ChatMessage, ...]
    sections: tuple[Section, ...] = ()
    material: tuple[Statement, ...] = ()
    known: tuple[str, ...] = ()
