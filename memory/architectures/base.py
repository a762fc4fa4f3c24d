"""What every memory architecture is: one base class, worked in phases.

Each asynchronous step goes *load* (synchronous, inside ``lab_scope``) → *call* (embedding or
language model, outside any transaction) → *write* (inside ``lab_scope`` again). Study time comes
in as ``now``; nothing here reads a clock or draws unseeded random numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from experiments.enums import RelevanceScale
from experiments.parameters import Parameter, Value, validated
from memlab.core.embeddings.base import Embedder
from memlab.core.llm.base import LanguageModel, Tool, ToolCall
from memlab.core.values import (
    MemoryReading,
    Recall,
    SessionTranscript,
    Transcript,
    Turn,
)
from memory.relevance import RAW

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The two doors an architecture may call: extraction by a language model, and embeddings.

    ``calls_tools`` says whether the model that talks can call tools by itself.
    """

    extraction: LanguageModel
    embedder: Embedder
    calls_tools: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySetting:
    """What the study fixes for all arms alike.

    ``calibrations`` maps a form of comparison (``query_passage``, ``passage_passage``) to the
    cosines of r = 0 and r = 1. ``context_tokens`` bounds what a prompt may carry of earlier turns.
    ``time_zone`` (IANA) is the study's, for what happens at night.
    """

    language: str
    relevance: RelevanceScale
    calibrations: Mapping[str, CalibrationPoint]
    provenance_in_prompt: bool
    context_tokens: int
    time_zone: str = "UTC"

    def scale(self, form: str) -> CalibrationPoint:
        """The cosines of r = 0 and r = 1 for a form of comparison."""
        return RAW if self.relevance is RelevanceScale.RAW else self.calibrations[form]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What one run did: rows written by kind, and reasons for which it fell short.

    A degraded run is tried again; what already succeeded is not repeated.
    """

    written: Mapping[str, int] | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What the tool calls of one turn have staged; applied with the reply that they belong to.

    ``staged`` are an architecture's own frozen values in the order of the calls, refused calls
    included, for they are events too.
    """

    staged: tuple[Any, ...] = ()


NO_EFFECTS = Effects()

#: The mark of a recall that wanted the query's embedding and had none.
NO_QUERY_VECTOR = "recall:no_query_vector"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model is told about one call: ``content`` is JSON. ``refused`` if nothing of it
    was staged but the event of its refusal."""

    content: str
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBudget:
    """How often a turn may go back to the model with results, and how many calls it may make."""

    rounds: int
    calls: int


class Architecture:
    """One participant's memory. Made anew for each step; keeps nothing between them.

    Subclasses override what they need; the base remembers nothing, which is exactly ``sensory``.
    """

    key: ClassVar[str]
    title: ClassVar[StrOrPromise]
    parameters: ClassVar[Sequence[Parameter]] = ()
    presets: ClassVar[Mapping[str, Mapping[str, Value]]] = {}
    #: The study's own wording for each language under the instruction factor ``seed``.
    seed_instructions: ClassVar[Mapping[str, str]] = {}
    #: Whether ``recall`` wants the query's embedding.
    searches: ClassVar[bool] = False
    #: Whether ``observe`` has to run after each turn, ``consolidate`` after each session.
    observes: ClassVar[bool] = False
    consolidates: ClassVar[bool] = False
    #: Whether ``begin_session`` has work to do when a session with manipulation starts.
    begins: ClassVar[bool] = False
    #: Whether time alone changes this memory: ``next_maintenance`` and ``maintain``.
    maintains: ClassVar[bool] = False

    def __init__(
        self,
        *,
        lab_id: int,
        participant_id: int,
        participant: UUID,
        parameters: Mapping[str, Value],
        setting: MemorySetting,
        doors: Doors,
    ) -> None:
        self.lab_id = lab_id
        self.participant_id = participant_id
        self.participant = participant
        #: Every declared parameter with its value, checked; ValidationError if one is unusable.
        self.values: Mapping[str, Any] = validated(self.parameters, parameters)
        self.setting = setting
        self.doors = doors

    def observes_live(self) -> bool:
        """Whether a live turn has to be observed after its reply. Only an architecture that learns
        from its own tools says no although it ``observes``: it observes turns that it slept
        through (before allocation, or with a model that calls no tools)."""
        return self.observes

    async def begin_session(self, session: UUID, now: datetime) -> Consolidation:
        """Upkeep at the start of a session (architectures with ``begins``). Idempotent."""
        return Consolidation()

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        """What this memory brings to a turn; changes nothing.

        ``query_vector`` has shape (dimensions,) and is None if ``searches`` is false or if
        embedding failed: then the recall goes on without it and says so in ``degraded``.
        """
        return Recall(at=now)

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        """The 20 memories nearest to the query that did not go into the prompt, with reasons.

        Of the same ``transcript`` and ``now`` as the recall, and before it is committed.
        """
        return ()

    async def ranked(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32],
        now: datetime,
        *,
        limit: int,
    ) -> tuple[UUID, ...]:
        """The last messages of the ``limit`` memories most relevant to a query, best first.

        By relevance alone, forgotten or not, over everything encoded: how well this memory finds,
        apart from what it would recall. Empty if ``searches`` is false.
        """
        return ()

    def tools(self) -> tuple[Tool, ...]:
        """What the model may call while it answers; none, for most architectures."""
        return ()

    def tool_budget(self) -> ToolBudget:
        """Asked for only where there are ``tools``. Calls beyond it are refused."""
        raise NotImplementedError(f"{type(self).__name__} has tools but no budget for them")

    async def call_tool(
        self, recall: Recall, effects: Effects, call: ToolCall, now: datetime
    ) -> tuple[ToolResult, Effects]:
        """Answer one call and stage what it changes; nothing is written before the reply is.

        A call that is malformed, unknown, foreign or over the budget of calls gets an error that
        the model sees and is staged as an event, never raised.
        """
        raise NotImplementedError(f"{type(self).__name__} has no tools")

    def refuse_call(
        self, effects: Effects, call: ToolCall, code: str
    ) -> tuple[ToolResult, Effects]:
        """The error that answers a call which isn't made; ``over_budget`` once the turn's rounds
        are over. Whoever counts refusals as events stages one, and words it for the model."""
        return ToolResult(content=json.dumps({"error": code}), refused=True), effects

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        """Strengthen what was recalled and apply what tools staged. Synchronous: runs inside the
        transaction, and the scope, that stores the reply which used it. At most once a reply."""

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        """Encode a finished turn (architectures with ``observes``). Idempotent: the write claims a
        ``ConsolidationRun`` of the turn (its reply's id), so a second call changes nothing."""
        return Consolidation()

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        """Encode a finished session (architectures with ``consolidates``). Idempotent: the write
        marks the session, so a second run changes nothing."""
        return Consolidation()

    def next_maintenance(self) -> datetime | None:
        """The study time at which ``maintain`` next has something to do, or None.

        Synchronous, inside a scope: asked in the transaction of every write to this memory.
        """
        return None

    async def maintain(self, now: datetime) -> Consolidation:
        """Do all upkeep due at ``now``, every missed moment in order and at its own study time
        (architectures with ``maintains``). A late run leaves the rows that punctual ones would
        have left, and a second run changes nothing."""
        return Consolidation()

    async def consolidate_by_hand(self, now: datetime) -> Consolidation:
        """What staff start by hand, after all upkeep due at ``now``: nothing more, unless an
        architecture has something that it does not do by itself. Idempotent at one ``now``."""
        return await self.maintain(now)
