"""Memory whose decay is compression: what is said loses content with age, and a mention gives some
back (Wixted & Ebbesen 1991; Brainerd & Reyna 1990; Nader, Schafe & LeDoux 2000)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from experiments.parameters import Parameter
from memlab.core.embeddings.base import EmbeddingFailure, Form, Vectors
from memlab.core.tenancy import lab_scope
from memlab.core.values import SessionTranscript
from memlab.core.work import unit
from memory.architectures.base import Consolidation
from memory.architectures.compressed_recall import CompressedRecall
from memory.architectures.compression_parameters import COMPRESSION, PRESETS
from memory.architectures.compression_upkeep import Made, make
from memory.echoes import without_echoes
from memory.encoding import own_messages
from memory.enums import MemoryKind, RunPart
from memory.extraction import ExtractionFailed
from memory.formulas.compression import Level
from memory.mentions import Mentions, Whose
from memory.models import Compressible, ConsolidationRun
from memory.statements import ExtractedStatement, extract_statements

#: How many due memories are compressed in one go.
BATCH = 200
#: Staff changed a memory while a session's statements were compared with it.
CHANGED_MEANWHILE = "consolidation:memory_changed"


class Compression(CompressedRecall):
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
            "spoken of; when the user comes back to something, your memory of it becomes fresher."
        ),
        "zh-hans": (
            "你的记忆会随时间缩短：近来的事记得完整，较早的只剩梗概，更久远的只留一点痕迹。"
            "每条记忆所附的日期是最近一次谈到它的时间；用户再次提起，相关的记忆便会清晰一些。"
        ),
    }

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
            rows = await unit(self._rows) if extracted.statements else []
            news, echoes = await without_echoes(
                extracted.statements,
                text_of=lambda statement: statement.content.text,
                said=[each.text for each in said],
                known=[row.text for row in rows],
            )
            vectors = await self.doors.embedder.embed(
                [each.content.text for each in news], Form.PASSAGE
            )
            mentions = await self._mentions(session, news, vectors, rows)
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        except EmbeddingFailure as failure:
            return Consolidation(degraded=(f"embedding:{failure.kind}",))
        return await unit(self._write, mentions, {**extracted.dropped, **echoes}, now)

    def _is_written(self, session: UUID) -> bool:
        with lab_scope(self.lab_id):
            return RunPart.STATEMENTS in ConsolidationRun.objects.parts_of(
                participant_id=self.participant_id, subject=session
            )

    async def _mentions(
        self,
        session: SessionTranscript,
        statements: Sequence[ExtractedStatement],
        vectors: Vectors,
        rows: list[Compressible],
    ) -> Mentions:
        """Every statement in order, held against the rows as the ones before have left them."""
        mentions = Mentions(
            whose=Whose(
                lab_id=self.lab_id,
                participant_id=self.participant_id,
                participant=self.participant,
                language=self.setting.language,
                relevance=self.setting.scale("passage_passage"),
                ladder=self.ladder,
            ),
            session=session,
            rows=rows,
        )
        by_id = {utterance.id: utterance for utterance in session.utterances}
        for statement, vector in zip(statements, vectors, strict=True):
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
