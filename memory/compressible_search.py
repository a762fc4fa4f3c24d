"""Searching memories that compress: relevance times weight, in one SQL statement, exact.

As in ``memory.search``: distance, calibrated relevance, decay, order and limit are computed where
the vectors are, without an approximate index, and the ``OFFSET 0`` fence keeps Postgres from
computing them again for every clause that names them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from memlab.core.tenancy import require_lab
from memlab.core.values import MemoryReading
from memory.enums import MemoryKind, Reason
from memory.formulas.compression import Level
from memory.relevance import RAW
from memory.search import RELEVANCE_SQL, vector_literal

_DAYS_SINCE = (
    "greatest(date_part('epoch', %(now)s::timestamptz) - date_part('epoch', {}), 0)"
    " / 86400.0::float8"
)
_STATEMENT = f"""
    SELECT id, text, level, message_ids, stage_key, session_id, activated_at, words, cosine,
           {RELEVANCE_SQL} AS relevance, elapsed, weight, {RELEVANCE_SQL} * weight AS score
    FROM (
        SELECT id, text, level, message_ids, stage_key, session_id, activated_at,
               {{words}} AS words,
               1 - (vector <=> %(query)s::vector) AS cosine,
               {_DAYS_SINCE.format("activated_at")} AS elapsed,
               weight / (1 + %(rate)s * {_DAYS_SINCE.format("weighed_at")}) AS weight
        FROM memory_compressible
        WHERE lab_id = %(lab)s AND participant_id = %(participant)s
          AND embedder = %(embedder)s AND session_id <> %(session)s AND {{where}}
        OFFSET 0
    ) AS candidate
    ORDER BY {{order}}
    {{limit}}
"""
_NOTHING = "ARRAY[]::text[]"
_LIMIT = "LIMIT %(limit)s"
_BEST = "score DESC, activated_at DESC, id"
_MOST_RELEVANT = "relevance DESC, cosine DESC, activated_at DESC, id"
_NOT_ARCHIVED = f"level <> '{Level.ARCHIVE.value}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for, among which rows, at what study time; as ``memory.search.Query``.

    ``rate`` is that of the weight's decay, a day.
    """

    participant_id: int
    session: UUID
    embedder: str
    vector: NDArray[float32]
    now: datetime
    rate: float
    relevance: CalibrationPoint = RAW


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One memory as a query found it, at its present level.

    ``elapsed`` in days since it was last activated; ``weight`` is that of now, ``score`` r·weight.
    """

    id: UUID
    text: str
    level: Level
    message_ids: tuple[UUID, ...]
    stage: str
    session: UUID
    activated_at: datetime
    words: tuple[str, ...]
    cosine: float
    relevance: float
    elapsed: float
    weight: float
    score: float

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Found:
        """From a row of ``_STATEMENT``, whose columns are in the order of the fields."""
        fields = dict(zip(cls.__slots__, row, strict=True))
        return cls(
            **fields
            | {
                "level": Level(fields["level"]),
                "message_ids": tuple(fields["message_ids"]),
                "words": tuple(fields["words"]),
            }
        )

    def reading(self, reason: Reason, *, recalled: bool) -> MemoryReading:
        return MemoryReading(
            kind=MemoryKind.COMPRESSIBLE,
            id=self.id,
            text=f"{self.level}: {self.text}",
            recalled=recalled,
            reason=reason,
            relevance=self.relevance,
            elapsed_days=self.elapsed,
            score=self.score,
            message_ids=self.message_ids,
            stage=self.stage,
        )


def best(query: Query, *, limit: int) -> list[Found]:
    """The ``limit`` best of r·weight that aren't archived, ties by recency."""
    statement = _statement(where=_NOT_ARCHIVED, order=_BEST, limit=_LIMIT)
    return _found(statement, query, limit=limit)


def nearest(query: Query, *, limit: int, without: Collection[UUID] = ()) -> list[Found]:
    """The ``limit`` most relevant at any level, ties by recency."""
    where = "id <> ALL(%(without)s)" if without else "true"
    statement = _statement(where=where, order=_MOST_RELEVANT, limit=_LIMIT)
    return _found(statement, query, limit=limit, without=list(without))


def everything(query: Query) -> list[Found]:
    """All of them with their words, the most relevant first: what a ranking by words needs."""
    return _found(_statement(where="true", order=_MOST_RELEVANT, words="words"), query)


def _statement(*, where: str, order: str, limit: str = "", words: str = _NOTHING) -> str:
    return _STATEMENT.format(where=where, order=order, limit=limit, words=words)


def _found(statement: str, query: Query, **more: Any) -> list[Found]:
    with connection.cursor() as cursor:
        cursor.execute(statement, _parameters(query) | more)
        return [Found.from_row(row) for row in cursor.fetchall()]


def _parameters(query: Query) -> dict[str, Any]:
    return {
        "lab": require_lab("memories that compress"),
        "participant": query.participant_id,
        "session": query.session,
        "embedder": query.embedder,
        "query": vector_literal(query.vector),
        "now": query.now,
        "rate": query.rate,
        "low": query.relevance.low,
        "high": query.relevance.high,
    }
