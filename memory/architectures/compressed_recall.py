"""How memories that compress are brought to a turn, and found. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from numpy import float32
from numpy.typing import NDArray

from memlab.core.tenancy import lab_scope
from memlab.core.values import MemoryReading, Recall, Section, Transcript
from memlab.core.work import unit
from memory import compressible_search as search
from memory.architectures.base import NO_QUERY_VECTOR, Architecture
from memory.architectures.hybrid import NEAR_MISSES
from memory.architectures.rendering import message_ids_of, turns_section
from memory.architectures.wording import wording
from memory.compressible_search import Found, Query
from memory.enums import MemoryKind, Reason
from memory.formulas.compression import Level
from memory.models.ladder import Ladder
from memory.ranking import Candidate, fused
from memory.words import words

_TITLE = {
    "en": "What you remember of what the user told you, with the day it was last spoken of",
    "zh-hans": "你记得的用户说过的事（附最近一次谈到的日期）",
}


class CompressedRecall(Architecture):
    """The last turns of earlier sessions, and the best of relevance times weight."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.ladder = Ladder.of(self.values)

    # What it brings to a turn

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        turns = self._recent(transcript, now)
        if query_vector is None:
            return replace(turns, degraded=(NO_QUERY_VECTOR,))
        found = await unit(self._best, self._query(transcript, query_vector, now), query)
        told = [memory for memory in found if memory.level is not Level.TRACE]
        covered = [message for memory in told for message in memory.message_ids]
        return replace(
            turns,
            sections=(*turns.sections, *self._section(found)),
            memories=tuple(memory.reading(Reason.RECALLED, recalled=True) for memory in found),
            message_ids=tuple(dict.fromkeys([*turns.message_ids, *covered])),
            searched=True,
        )

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        """The nearest memories that weren't brought; archived ones say so."""
        if query_vector is None:
            return ()
        asked = self._query(transcript, query_vector, now)
        brought = [each.id for each in recall.memories if each.kind == MemoryKind.COMPRESSIBLE]
        return tuple(
            memory.reading(
                Reason.ARCHIVED if memory.level is Level.ARCHIVE else Reason.BEYOND_LIMIT,
                recalled=False,
            )
            for memory in await unit(self._nearest, asked, brought, NEAR_MISSES)
        )

    async def ranked(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32],
        now: datetime,
        *,
        limit: int,
    ) -> tuple[UUID, ...]:
        asked = self._query(transcript, query_vector, now)
        if self.values["ranking"] == "hybrid":
            found = (await unit(self._fused, asked, query))[:limit]
        else:
            found = await unit(self._nearest, asked, (), limit)
        return tuple(memory.message_ids[-1] for memory in found)

    def _recent(self, transcript: Transcript, now: datetime) -> Recall:
        earlier = list(transcript.earlier_turns())
        recent = earlier[max(0, len(earlier) - self.values["recent_turns"]) :]
        words_of = wording(self.setting.language)
        section = turns_section(
            recent,
            key="recent_turns",
            title=words_of.recent,
            wording=words_of,
            provenance=self.setting.provenance_in_prompt,
        )
        return Recall(at=now, sections=section, message_ids=tuple(message_ids_of(recent)))

    def _section(self, found: Sequence[Found]) -> tuple[Section, ...]:
        if not found:
            return ()
        lines = tuple(self._line(memory) for memory in found)
        title = _TITLE[self.setting.language]
        return (Section(key="compressed", title=title, lines=lines),)

    def _line(self, memory: Found) -> str:
        day = memory.activated_at.astimezone(ZoneInfo(self.setting.time_zone)).date()
        source = ""
        if self.setting.provenance_in_prompt:
            relevance = wording(self.setting.language).relevance.format(memory.relevance)
            source = f"[{memory.stage}] {relevance} "
        return f"- {source}[{day.isoformat()}] {memory.text}"

    def _query(self, transcript: Transcript, vector: NDArray[float32], now: datetime) -> Query:
        return Query(
            participant_id=self.participant_id,
            session=transcript.current.id,
            embedder=self.doors.embedder.id,
            vector=vector,
            now=now,
            rate=self.ladder.decay_rate,
            relevance=self.setting.scale("query_passage"),
        )

    def _best(self, asked: Query, query: str) -> list[Found]:
        """The memories for a turn.

        With ranking by words too, r gives way to (k + 1)/(k + rank) of the fused ranking, which
        falls from 1 as relevance does, and is weighted in the same way.
        """
        limit = self.values["retrieval_top_k"]
        if self.values["ranking"] != "hybrid":
            with lab_scope(self.lab_id):
                return search.best(asked, limit=limit)
        k = self.values["fusion_k"]
        scored = [
            replace(memory, score=memory.weight * (k + 1) / (k + rank))
            for rank, memory in enumerate(self._fused(asked, query), start=1)
            if memory.level is not Level.ARCHIVE
        ]
        return sorted(scored, key=lambda memory: -memory.score)[:limit]

    def _fused(self, asked: Query, query: str) -> list[Found]:
        """Everything there is, by meaning and words together, the best first."""
        with lab_scope(self.lab_id):
            found = {memory.id: memory for memory in search.everything(asked)}
        order = fused(
            (
                Candidate(
                    id=memory.id,
                    at=memory.activated_at,
                    cosine_alone=memory.cosine,
                    words_alone=memory.words,
                    session=memory.session,
                )
                for memory in found.values()
            ),
            words(query),
            k=self.values["fusion_k"],
            session_bonus=self.values["session_bonus"],
        )
        return [found[id_] for id_ in order]

    def _nearest(self, asked: Query, without: Sequence[UUID], limit: int) -> list[Found]:
        with lab_scope(self.lab_id):
            return search.nearest(asked, limit=limit, without=without)
