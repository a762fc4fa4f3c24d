"""What due memories need of the models before they can be compressed: summaries, and the vectors
of what staff has rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from numpy import float32
from numpy.typing import NDArray

from memlab.core.embeddings.base import Embedder, EmbeddingFailure, Form
from memlab.core.llm.base import LanguageModel
from memory.architectures.base import Doors
from memory.extraction import ExtractionFailed
from memory.formulas.compression import Level
from memory.models import Compressible
from memory.models.ladder import Ladder
from memory.statements import summarise

SUMMARIES_MISSING = "extraction:summaries_missing"

Vector = NDArray[float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The rows for which everything is there, what was made for them, and why some are missing."""

    ready: tuple[Compressible, ...]
    summaries: dict[UUID, str]
    vectors: dict[UUID, Vector]
    failures: tuple[str, ...]


async def make(
    rows: Sequence[Compressible], *, now: datetime, ladder: Ladder, language: str, doors: Doors
) -> Made:
    """Summaries for the rows that are due as one, and vectors for those that were edited."""
    full = {row.pk: row.text for row in rows if _becomes_summary(row, ladder, now)}
    edited = {row.pk: row.unembedded for row in rows if row.unembedded}
    summaries, unsummarised = await _summaries(doors.extraction, language, full)
    vectors, unembedded = await _vectors(doors.embedder, edited)
    ready = (
        row
        for row in rows
        if (row.pk not in full or row.pk in summaries)
        and (row.pk not in edited or row.pk in vectors)
    )
    return Made(
        ready=tuple(ready),
        summaries=summaries,
        vectors=vectors,
        failures=(*unsummarised, *unembedded),
    )


def _becomes_summary(row: Compressible, ladder: Ladder, now: datetime) -> bool:
    moment = ladder.due_at(row.level, row.activated_at)
    return row.level == Level.FULL and moment is not None and moment <= now


async def _summaries(
    model: LanguageModel, language: str, texts: dict[UUID, str]
) -> tuple[dict[UUID, str], tuple[str, ...]]:
    try:
        summaries = await summarise(model, language=language, texts=texts)
    except ExtractionFailed as failure:
        return {}, (failure.code,)
    return summaries, () if len(summaries) == len(texts) else (SUMMARIES_MISSING,)


async def _vectors(
    embedder: Embedder, texts: dict[UUID, str]
) -> tuple[dict[UUID, Vector], tuple[str, ...]]:
    if not texts:
        return {}, ()
    try:
        made = await embedder.embed(list(texts.values()), Form.PASSAGE)
    except EmbeddingFailure as failure:
        return {}, (f"embedding:{failure.kind}",)
    return dict(zip(texts, made, strict=True)), ()
