"""What every memory architecture is: one base class, worked in phases.

Each asynchronous step goes *load* (synchronous, inside ``lab_scope``) → *call* (embedding or
language model, outside any transaction) → *write* (inside ``lab_scope`` again). Study time comes
in as ``now``; nothing here reads a clock or draws unseeded random numbers.
"""

from __future__ import annotations

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
from memlab.core.llm.base import LanguageModel
from memlab.core.values import (
    MemoryReading,
    Recall,
    SessionTranscript,
    Transcript,
    Turn,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The two doors an architecture may call: extraction by a language model, and embeddings."""

    extraction: LanguageModel
    embedder: Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySetting:
    """What the study fixes for all arms alike.

    ``calibrations`` maps a form of comparison (``query_passage``, ``passage_passage``) to the
    cosines of r = 0 and r = 1. ``context_tokens`` bounds what a prompt may carry of earlier turns.
    """

    language: str
    relevance: RelevanceScale
    calibrations: Mapping[str, CalibrationPoint]
    provenance_in_prompt: bool
    context_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What one run did: rows written by kind, and reasons for which it fell short.

    A degraded run is tried again; what already succeeded is not repeated.
    """

    written: Mapping[str, int] | None = None
    degraded: tuple[str, ...] = ()


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

    async def begin_session(self, now: datetime) -> None:
        """Called once when a session of this participant starts."""

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

    def commit_recall(self, recall: Recall, now: datetime, *, reply: UUID) -> None:
        """Strengthen what was recalled. Synchronous: runs inside the transaction, and the scope,
        that stores the reply which used it. Called at most once a reply."""

    async def observe(self, turn: Turn, now: datetime) -> None:
        """Encode a finished turn (architectures with ``observes``). Idempotent."""

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        """Encode a finished session (architectures with ``consolidates``). Idempotent: the write
        marks the session, so a second run changes nothing."""
        return Consolidation()

    async def maintain(self, now: datetime) -> datetime | None:
        """Do all upkeep that is due at ``now``; returns the study time of the next, or None."""
        return None
