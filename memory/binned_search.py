"""Retrieval from the four bins: scored, ordered and cut in one SQL statement, exact.

As in ``memory.search``, ``OFFSET 0`` keeps Postgres from computing a distance twice. Distances are
computed for facts alone, for nothing else is ranked by the query; near misses have them all.

Postgres raises on a float8 underflow, so exponents are bounded where the result is 0 anyway, and
states and importances have twelve digits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from memlab.core.tenancy import require_lab
from memlab.core.values import MemoryReading
from memory.dynamics import digits
from memory.enums import Bin, MemoryKind, Reason
from memory.formulas.regulation import State
from memory.ranking import Candidate
from memory.relevance import RAW
from memory.search import RELEVANCE_SQL, vector_literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How bins are scored; an arm's parameters of the same names."""

    fact_weight: float = 1.0
    relation_weight: float = 0.9
    affect_weight: float = 0.7
    style_weight: float = 0.5
    relation_days: float = 30.0
    affect_days: float = 7.0
    state_bias: float = 0.2
    match_breadth: float = 0.2
    fact_threshold: float = 0.0

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Weights:
        return cls(**{field.name: parameters[field.name] for field in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for, in what state, among which rows, at what study time.

    ``vector`` has shape (dimensions,) and comes from the embedder whose id is ``embedder``; without
    one no fact is found. Items of ``session``, the current one, are left out.
    """

    participant_id: int
    session: UUID
    embedder: str
    vector: NDArray[float32] | None
    state: State
    now: datetime
    weights: Weights = Weights()
    relevance: CalibrationPoint = RAW


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One item as a query found it. ``relevance`` and ``cosine`` are None where none was computed;
    ``match`` compares its state with the present one; ``age`` is in days."""

    id: UUID
    bin: Bin
    text: str
    message_ids: tuple[UUID, ...]
    stage: str
    log_id: UUID
    importance: float
    cosine: float | None
    relevance: float | None
    age: float
    match: float
    score: float | None

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Found:
        """From a row of the statements below, whose columns are in the order of the fields."""
        values = dict(zip(cls.__slots__, row, strict=True))
        return cls(**values | {"bin": Bin(row[1]), "message_ids": tuple(row[3])})

    def reading(self, reason: Reason, *, recalled: bool, weights: Weights) -> MemoryReading:
        return MemoryReading(
            kind=MemoryKind.BINNED,
            id=self.id,
            text=f"{self.bin}: {self.text}",
            recalled=recalled,
            reason=reason,
            relevance=self.relevance,
            elapsed_days=self.age,
            score=self.score,
            threshold=weights.fact_threshold if self.bin is Bin.FACT else None,
            message_ids=self.message_ids,
            stage=self.stage,
        )


_COLUMNS = (
    "id, bin, text, message_ids, stage_key, log_id, importance,"
    " cosine, relevance, age, match, score"
)
_WHOSE = (
    "lab_id = %(lab)s AND participant_id = %(participant)s AND session_id <> %(session)s"
    " AND (expires_at IS NULL OR expires_at > %(now)s)"
)
_SQUARES = " + ".join(f"({name} - %(state_{name})s) ^ 2" for name in State._fields)
_MATCH = f"exp(-least(({_SQUARES}) / 5 / (2 * %(match_breadth)s ^ 2), 400))"
_AGE = (
    "greatest(date_part('epoch', %(now)s::timestamptz) - date_part('epoch', at), 0)"
    " / 86400.0::float8"
)
_BASE = """CASE bin
    WHEN 'fact' THEN %(fact_weight)s * relevance
    WHEN 'relation' THEN %(relation_weight)s * importance
        * exp(-least(age / %(relation_days)s, 400))
    WHEN 'affect' THEN %(affect_weight)s * importance * exp(-least(age / %(affect_days)s, 400))
    ELSE %(style_weight)s * match
END"""


def _scored(*, compared: str, where: str = "true") -> str:
    """The rows ``where``, scored; those that are ``compared`` with the query have a distance."""
    return f"""
        SELECT *, ({_BASE}) * (1 + %(state_bias)s * match) AS score
        FROM (
            SELECT *, CASE WHEN cosine IS NOT NULL THEN {RELEVANCE_SQL} END AS relevance
            FROM (
                SELECT id, bin, text, message_ids, stage_key, log_id, importance, at,
                       {_AGE} AS age, {_MATCH} AS match,
                       CASE WHEN {compared} AND embedder = %(embedder)s
                            THEN 1 - (vector <=> %(query)s::vector) END AS cosine
                FROM memory_binneditem
                WHERE {where} AND {_WHOSE}
                OFFSET 0
            ) AS candidate
            OFFSET 0
        ) AS compared
    """


# Items of one message tie: their texts decide, for ids differ from participant to participant.
_BEST = 'score DESC, at DESC, text COLLATE "C", id'
_PASSES = "(bin <> 'fact' OR relevance > %(fact_threshold)s)"

_RECALL = f"""
    SELECT {_COLUMNS}
    FROM (
        SELECT *, row_number() OVER (PARTITION BY bin ORDER BY {_BEST}) AS place
        FROM ({_scored(compared="bin = 'fact'", where="bin = ANY(%(bins)s)")}) AS scored
        WHERE {_PASSES}
    ) AS placed
    WHERE place <= CASE bin WHEN 'fact' THEN %(fact_limit)s WHEN 'relation' THEN %(relation_limit)s
                            WHEN 'affect' THEN %(affect_limit)s ELSE %(style_limit)s END
    ORDER BY array_position(ARRAY['fact', 'relation', 'affect', 'style'], bin::text), place
"""
_NEAREST = f"""
    SELECT {_COLUMNS}
    FROM ({_scored(compared="true", where="id <> ALL(%(without)s)")}) AS scored
    WHERE cosine IS NOT NULL
    ORDER BY relevance DESC, cosine DESC, at DESC, text COLLATE "C", id
    LIMIT %(limit)s
"""
_READ = f"""
    SELECT {_COLUMNS} FROM ({_scored(compared="true", where="id = ANY(%(ids)s)")}) AS scored
"""
_CANDIDATES = f"""
    SELECT id, at, cosine,
           CASE WHEN vector_in_context IS NOT NULL
                THEN 1 - (vector_in_context <=> %(query)s::vector) END,
           words, words_in_context, session_id
    FROM (
        SELECT *, {RELEVANCE_SQL} AS relevance
        FROM (
            SELECT id, bin, at, vector_in_context, words, words_in_context, session_id,
                   1 - (vector <=> %(query)s::vector) AS cosine
            FROM memory_binneditem
            WHERE bin = ANY(%(bins)s) AND embedder = %(embedder)s AND {_WHOSE}
            OFFSET 0
        ) AS candidate
    ) AS compared
    WHERE relevance > %(least)s
"""


def recall(query: Query, *, limits: Mapping[Bin, int]) -> list[Found]:
    """The best of each bin up to its limit, best first, ties by recency; bins in their order.

    A fact must exceed the threshold of relevance; a bin whose limit is 0 isn't read.
    """
    return _found(
        _RECALL,
        query,
        bins=[bin_.value for bin_ in Bin if limits.get(bin_)],
        **{f"{bin_.value}_limit": limits.get(bin_, 0) for bin_ in Bin},
    )


def nearest(query: Query, *, limit: int, without: Collection[UUID] = ()) -> list[Found]:
    """The ``limit`` most relevant items of all bins, ties by recency."""
    return _found(_NEAREST, query, limit=limit, without=list(without))


def read(query: Query, ids: Sequence[UUID]) -> list[Found]:
    """Given items as this query finds them, in the order of ``ids``."""
    by_id = {item.id: item for item in _found(_READ, query, ids=list(ids))}
    return [by_id[id_] for id_ in ids]


def candidates(query: Query, *, bins: Collection[Bin], least: float = -1.0) -> list[Candidate]:
    """All items of some bins whose relevance is above ``least``, for a ranking that fuses."""
    with connection.cursor() as cursor:
        named = [bin_.value for bin_ in bins]
        cursor.execute(_CANDIDATES, _parameters(query) | {"bins": named, "least": least})
        return [
            Candidate(
                id=id_,
                at=at,
                cosine_alone=alone,
                cosine_in_context=in_context,
                words_alone=words,
                words_in_context=words_in_context or None,
                session=session,
            )
            for id_, at, alone, in_context, words, words_in_context, session in cursor.fetchall()
        ]


def _found(statement: str, query: Query, **more: Any) -> list[Found]:
    with connection.cursor() as cursor:
        cursor.execute(statement, _parameters(query) | more)
        return [Found.from_row(row) for row in cursor.fetchall()]


def _parameters(query: Query) -> dict[str, Any]:
    return {
        "lab": require_lab("items of bins"),
        "participant": query.participant_id,
        "session": query.session,
        "embedder": query.embedder,
        "query": None if query.vector is None else vector_literal(query.vector),
        "now": query.now,
        "low": query.relevance.low,
        "high": query.relevance.high,
        **{f"state_{name}": value for name, value in digits(query.state)._asdict().items()},
        **asdict(query.weights),
    }
