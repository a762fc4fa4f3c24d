"""Memory whose decay is compression: what is said loses content with age, and a mention gives some
back (Wixted & Ebbesen 1991; Brainerd & Reyna 1990; Nader, Schafe & LeDoux 2000)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from experiments.enums import RelevanceScale
from experiments.parameters import Parameter
from memlab.core.embeddings.base import EmbeddingFailure, Form, Vectors
from memlab.core.tenancy import lab_scope
from memlab.core.values import MemoryReading, Recall, Section, SessionTranscript, Transcript
from memlab.core.work import unit
from memory import compressible_search as search
from memory.architectures.base import NO_QUERY_VECTOR, Architecture, Consolidation
from memory.architectures.compression_parameters import COMPRESSION, PRESETS
from memory.architectures.compression_upkeep import Made, make
from memory.architectures.hybrid import NEAR_MISSES
from memory.architectures.rendering import message_ids_of, turns_section
from memory.architectures.wording import wording
from memory.compressible_search import Found, Query
from memory.encoding import own_messages
from memory.enums import MemoryKind, Reason, RunPart
from memory.extraction import ExtractionFailed
from memory.formulas.compression import Level
from memory.mentions import Mentions, Whose
from memory.models import Compressible, ConsolidationRun
from memory.models.ladder import Ladder
from memory.ranking import Candidate, fused
from memory.search import RAW
from memory.statements import ExtractedStatements, extract_statements
from memory.words import words

#: How many due memories are compressed in one go.
BATCH = 200
#: Staff changed a memory while a session's statements were compared with it.
CHANGED_MEANWHILE = "consolidation:memory_changed"

_TITLE = {
    "en": "What you remember of the user, with the day on which it was last spoken of",
    "zh-hans": "你对用户的记忆（附最近一次谈到的日期）",
}


class Compression(Architecture):
    """Brings the last turns of earlier sessions and the best of relevance times weight, each at
    the level that is left of it, with its true date.

    A recall changes nothing: only what the participant says again refreshes a memory, not what
    the model was reminded of. (So ``commit_recall`` stays that of the base.) What compression made
    of a memory stands in the prompt for the message it came from; a trace no longer does.
    """

    key = "compression"
    title = _("Compression")
    parameters: ClassVar[Sequence[Parameter]] = COMPRESSION
    presets = PRESETS
    searches = True
    consolidates = True
    maintains = True
    seed_instructions = {
        "en": (
            "Your memories grow shorter with time: what is recent you know in full, older things "
            "only in outline, the oldest as a mere trace. The date with each says when it was last "
            "spoken of; when the user comes back to something, your memory of it becomes fresh."
        ),
        "zh-hans": (
            "你的记忆会随时间缩短：近来的事记得完整，较早的只剩梗概，更久远的只留一点痕迹。"
            "每条记忆所附的日期是最近一次谈到它的时间；用户再次提起，相关的记忆便会重新清晰。"
        ),
    }

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
            relevance=self._relevance("query_passage"),
        )

    def _relevance(self, form: str) -> CalibrationPoint:
        """The cosines of r = 0 and r = 1 for a form of comparison."""
        if self.setting.relevance is RelevanceScale.RAW:
            return RAW
        return self.setting.calibrations[form]

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
        )
        return [found[id_] for id_ in order]

    def _nearest(self, asked: Query, without: Sequence[UUID], limit: int) -> list[Found]:
        with lab_scope(self.lab_id):
            return search.nearest(asked, limit=limit, without=without)

    # What a session adds

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        """Extract what was said, and merge it with what is known or keep it.

        What was due before is compressed first, so that a statement meets the memories that it
        would have met had maintenance been punctual.
        """
        if await unit(self._is_written, session.id):
            return Consolidation()
        caught_up = await self.maintain(now)
        if caught_up.degraded:
            return caught_up
        said = own_messages(session)
        try:
            extracted = await extract_statements(
                self.doors.extraction, language=self.setting.language, said=said
            )
            vectors = await self.doors.embedder.embed(
                [each.content.text for each in extracted.statements], Form.PASSAGE
            )
            mentions = await self._mentions(session, extracted, vectors)
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        except EmbeddingFailure as failure:
            return Consolidation(degraded=(f"embedding:{failure.kind}",))
        return await unit(self._write, mentions, extracted.dropped, now)

    def _is_written(self, session: UUID) -> bool:
        with lab_scope(self.lab_id):
            return RunPart.STATEMENTS in ConsolidationRun.objects.parts_of(
                participant_id=self.participant_id, subject=session
            )

    async def _mentions(
        self, session: SessionTranscript, extracted: ExtractedStatements, vectors: Vectors
    ) -> Mentions:
        """Every statement in order, held against the rows as the ones before have left them."""
        rows = await unit(self._rows) if extracted.statements else []
        mentions = Mentions(
            whose=Whose(
                lab_id=self.lab_id,
                participant_id=self.participant_id,
                participant=self.participant,
                language=self.setting.language,
                relevance=self._relevance("passage_passage"),
                ladder=self.ladder,
            ),
            session=session,
            rows=rows,
        )
        by_id = {utterance.id: utterance for utterance in session.utterances}
        for statement, vector in zip(extracted.statements, vectors, strict=True):
            await mentions.take(
                statement,
                vector,
                by_id[statement.message],
                model=self.doors.extraction,
                embedder=self.doors.embedder,
            )
        return mentions

    def _rows(self) -> list[Compressible]:
        with lab_scope(self.lab_id):
            rows = Compressible.objects.of_participant(self.participant_id)
            return list(rows.filter(embedder=self.doors.embedder.id))

    def _write(
        self, mentions: Mentions, dropped: Mapping[str, int], now: datetime
    ) -> Consolidation:
        with lab_scope(self.lab_id):
            changed = list(mentions.changed.values())
            read = {row.pk: mentions.read[row.pk] for row in changed}
            if len(Compressible.objects.unchanged(read)) < len(changed):
                return Consolidation(degraded=(CHANGED_MEANWHILE,))
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id,
                subject=mentions.session.id,
                part=RunPart.STATEMENTS,
                now=now,
            )
            if run is None:
                return Consolidation()
            Compressible.objects.write(
                created=mentions.created, changed=changed, events=mentions.events, vectors=True
            )
            written = {
                MemoryKind.COMPRESSIBLE.value: len(mentions.created),
                "merged": len(mentions.events) - len(mentions.created),
            }
            run.record(written=written, dropped=dropped)
        return Consolidation(written=written)

    # What time alone does

    def next_maintenance(self) -> datetime | None:
        moment: datetime | None = Compressible.objects.of_participant(
            self.participant_id
        ).next_due()
        return moment

    async def maintain(self, now: datetime) -> Consolidation:
        """Lead every due memory down, each level at its own moment.

        If no summaries can be made, what needs none is compressed all the same.
        """
        steps, reasons = 0, dict[str, None]()
        unmade: set[UUID] = set()
        while rows := await unit(self._due, now, frozenset(unmade), bool(reasons)):
            made = await make(
                rows,
                now=now,
                ladder=self.ladder,
                language=self.setting.language,
                doors=self.doors,
            )
            reasons |= dict.fromkeys(made.failures)
            unmade |= {row.pk for row in rows} - {row.pk for row in made.ready}
            steps += await unit(self._compress, made, now)
        written = {MemoryKind.COMPRESSIBLE.value: steps} if steps else {}
        return Consolidation(written=written, degraded=tuple(reasons))

    def _due(self, now: datetime, unmade: frozenset[UUID], failing: bool) -> list[Compressible]:
        """Due memories without their vectors; once a model fails, those that need none."""
        with lab_scope(self.lab_id):
            rows = Compressible.objects.of_participant(self.participant_id).due(now)
            if failing:
                rows = rows.exclude(level=Level.FULL).filter(unembedded="")
            return list(rows.exclude(pk__in=unmade).defer("vector")[:BATCH])

    def _compress(self, made: Made, now: datetime) -> int:
        with lab_scope(self.lab_id):
            done: int = Compressible.objects.compress(
                made.ready,
                ladder=self.ladder,
                now=now,
                summaries=made.summaries,
                vectors=made.vectors,
            )
            return done
