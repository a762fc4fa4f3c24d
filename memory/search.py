"""Recall from episodes: the whole of it in one SQL statement, exact, without an approximate index.

Distance, calibrated relevance, probability, threshold, order and limit are computed where the
vectors are. Two things make it fast. Forgetting prunes: a row whose ``recallable_until`` has
passed could not be recalled by any cue, so the index on (lab, participant, recallable_until)
skips it and no distance is computed. And the rest is computed once, for the candidates are
materialized (a plain subquery would be flattened and its distance computed twice).

Postgres raises on a float8 underflow, so the exponent is bounded where p is 0 anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from numpy import float32
from numpy.typing import NDArray
from pgvector import Vector

from experiments.configuration import CalibrationPoint
from memlab.core.tenancy import require_lab
from memlab.core.values import MemoryReading
from memory.enums import MemoryKind, Reason
from memory.models.episode import Curve

#: r = 0 and r = 1 of the raw cosine, as the papers use it.
RAW = CalibrationPoint(low=0.0, high=1.0)

#: e^(−t/g) is bounded at e^−600: some 1e−261, where p is 0 to any precision that matters.
STRENGTH_SQL = "exp(-least(elapsed / g, 600))"
PROBABILITY_SQL = f"((1 - exp(-relevance * {STRENGTH_SQL})) / (1 - exp(-1::float8)))"

_CANDIDATES = """
    SELECT id, anchor, g, salience,
           1 - (vector <=> %(query)s::vector) AS cosine,
           greatest(date_part('epoch', %(now)s::timestamptz - anchor), 0) / %(unit)s AS elapsed
    FROM memory_episode
    WHERE lab_id = %(lab)s AND participant_id = %(participant)s
      AND embedder = %(embedder)s AND session_id <> %(session)s
"""

_READ = f"""
    relevant AS (
        SELECT *, least(greatest((cosine - %(low)s) / (%(high)s - %(low)s), 0), 1) AS relevance
        FROM candidate
    ),
    probable AS (
        SELECT *, least({PROBABILITY_SQL} + %(bonus)s * salience, 1) AS probability
        FROM relevant
    )
"""

_COLUMNS = """
    episode.id, episode.text, episode.message_ids, episode.stage_key, episode.ends_with,
    best.cosine, best.relevance, best.elapsed, best.g, best.salience, best.probability
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for, among which rows, at what study time.

    ``vector`` has shape (dimensions,) and comes from the embedder whose id is ``embedder``;
    vectors of others are never compared with it. Episodes of ``session``, the current one, are
    left out. ``relevance`` maps the cosine to r.
    """

    participant_id: int
    session: UUID
    embedder: str
    vector: NDArray[float32]
    now: datetime
    curve: Curve
    relevance: CalibrationPoint = RAW


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One episode as a query found it; symbols as in ``memory.formulas.forgetting``.

    ``probability`` is p_final, the emotional bonus included; ``elapsed`` is in the curve's unit.
    """

    id: UUID
    text: str
    message_ids: tuple[UUID, ...]
    stage: str
    ends_with: UUID
    cosine: float
    relevance: float
    elapsed: float
    g: float
    salience: float
    probability: float

    def reading(self, reason: Reason, *, curve: Curve, recalled: bool) -> MemoryReading:
        return MemoryReading(
            kind=MemoryKind.EPISODE,
            id=self.id,
            text=self.text,
            recalled=recalled,
            reason=reason,
            relevance=self.relevance,
            elapsed_days=self.elapsed * curve.time_unit.seconds / 86400.0,
            probability=self.probability,
            threshold=curve.recall_threshold,
            message_ids=self.message_ids,
            stage=self.stage,
        )


def recall(query: Query, *, limit: int) -> list[Found]:
    """The ``limit`` most probable episodes that reach the threshold, ties by recency.

    Prunes by the stored moment of forgetting, which must have been stored for the same curve.
    """
    return _found(
        query,
        where="AND recallable_until > %(now)s",
        keep="WHERE probability >= %(threshold)s",
        order="probability DESC, anchor DESC, id",
        limit=limit,
    )


def recall_unpruned(query: Query, *, limit: int) -> list[Found]:
    """The same as ``recall`` by a scan of every row: what the pruning is tested against."""
    return _found(
        query,
        keep="WHERE probability >= %(threshold)s",
        order="probability DESC, anchor DESC, id",
        limit=limit,
    )


def nearest(query: Query, *, limit: int, without: Collection[UUID] = ()) -> list[Found]:
    """The ``limit`` most relevant episodes, forgotten or not, ties by recency."""
    return _found(
        query,
        where="AND id <> ALL(%(without)s)" if without else "",
        order="relevance DESC, cosine DESC, anchor DESC, id",
        limit=limit,
        without=list(without),
    )


def read(query: Query, ids: Sequence[UUID]) -> list[Found]:
    """Given episodes as this query finds them, in the order of ``ids``."""
    found = {
        episode.id: episode
        for episode in _found(
            query, where="AND id = ANY(%(ids)s)", order="id", limit=len(ids), ids=list(ids)
        )
    }
    return [found[id] for id in ids]


def _found(
    query: Query, *, order: str, limit: int, where: str = "", keep: str = "", **more: Any
) -> list[Found]:
    statement = f"""
        WITH candidate AS MATERIALIZED ({_CANDIDATES} {where}), {_READ},
        best AS (SELECT * FROM probable {keep} ORDER BY {order} LIMIT %(limit)s)
        SELECT {_COLUMNS}
        FROM best JOIN memory_episode AS episode USING (id)
        ORDER BY {_qualified(order)}
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, {**_parameters(query), "limit": limit, **more})
        return [
            Found(
                id=row[0],
                text=row[1],
                message_ids=tuple(row[2]),
                stage=row[3],
                ends_with=row[4],
                cosine=row[5],
                relevance=row[6],
                elapsed=row[7],
                g=row[8],
                salience=row[9],
                probability=row[10],
            )
            for row in cursor.fetchall()
        ]


def _qualified(order: str) -> str:
    return ", ".join(f"best.{term.strip()}" for term in order.split(","))


def _parameters(query: Query) -> dict[str, Any]:
    return {
        "lab": require_lab("episodes"),
        "participant": query.participant_id,
        "session": query.session,
        "embedder": query.embedder,
        "query": Vector(query.vector).to_text(),
        "now": query.now,
        "unit": query.curve.time_unit.seconds,
        "low": query.relevance.low,
        "high": query.relevance.high,
        "bonus": query.curve.recall_bonus,
        "threshold": query.curve.recall_threshold,
    }
