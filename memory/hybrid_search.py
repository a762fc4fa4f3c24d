"""The ranking ``hybrid`` over episodes: by meaning and by words, each alone and in context.

Forgetting comes first and is the same as in ``memory.search``: the probability goes by the
relevance of ``vector`` alone. Then all that a cue could still bring back is ranked, so that how
rare a word is doesn't depend on the query, and of those the ones that reach the threshold remain,
in that order. Words are scored here and not in Postgres: under row-level security it wouldn't use
a full-text index, and a participant's episodes are few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db import connection

from memory import search
from memory.enums import Ranking, TimeUnit
from memory.ranking import counted, counted_bm25, fused_order, numbers
from memory.search import ELAPSED_SQL, PROBABILITY_SQL, WHOSE, Found, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How an arm fuses rankings."""

    k: float = 20.0
    session_bonus: float = 1.0

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Fusion | None:
        """The fusion that an arm's complete parameters describe; None where it ranks densely."""
        if Ranking(parameters["ranking"]) is Ranking.DENSE:
            return None
        return cls(k=parameters["fusion_k"], session_bonus=parameters["session_bonus"])


def recall(query: Query, fusion: Fusion, *, limit: int) -> list[Found]:
    """The ``limit`` best of the episodes that reach the threshold."""
    rows = _rows(query, where="recallable_until > %(now)s")
    best = (
        rows[index].id
        for index in _order(rows, query, fusion)
        if rows[index].probability >= query.curve.recall_threshold
    )
    return search.read(query, [UUID(id_) for id_ in islice(best, limit)])


def nearest(
    query: Query, fusion: Fusion, *, limit: int, without: Collection[UUID] = ()
) -> list[Found]:
    """The ``limit`` best of all episodes, forgotten or not."""
    rows = _rows(query, where="true")
    excepted = {str(id_) for id_ in without}
    best = (rows[index].id for index in _order(rows, query, fusion))
    missed = (id_ for id_ in best if id_ not in excepted)
    return search.read(query, [UUID(id_) for id_ in islice(missed, limit)])


class _Row(NamedTuple):
    """One episode as it comes from the statement; NULL only where there is no second vector."""

    id: str
    session: str
    cosine: float
    second_cosine: float | None
    words: str
    words_before: str
    probability: float


def _order(rows: Sequence[_Row], query: Query, fusion: Fusion) -> Iterator[int]:
    """The rows' indices, best first; which of the two cosines is which doesn't matter."""
    first = numbers(row.cosine for row in rows)
    second = numbers(row.second_cosine for row in rows)
    counts, lengths = counted([row.words for row in rows], query.words)
    counts_before, lengths_before = counted([row.words_before for row in rows], query.words)
    order = fused_order(
        cosines=(first, np.where(np.isnan(second), first, second)),
        words=(
            counted_bm25(counts, lengths),
            counted_bm25(counts + counts_before, lengths + lengths_before),
        ),
        sessions=[row.session for row in rows],
        k=fusion.k,
        session_bonus=fusion.session_bonus,
    )
    return iter(order.tolist())


def _rows(query: Query, *, where: str) -> list[_Row]:
    """The query's episodes, the latest recalled or encoded first."""
    with connection.cursor() as cursor:
        cursor.execute(_statement(query.curve.time_unit, where=where), search.parameters(query))
        return [_Row(*row) for row in cursor.fetchall()]


@cache
def _statement(unit: TimeUnit, *, where: str) -> str:
    """One scan of the rows ``where``; the fence as in ``memory.search``.

    Ids as texts: turning thousands of them into Python's takes longer than ranking them.
    """
    return f"""
        SELECT id::text, session_id::text, cosine, second_cosine, words, words_before,
               {PROBABILITY_SQL} AS probability
        FROM (
            SELECT id, session_id, anchor, g, salience, words, words_before,
                   1 - (vector <=> %(query)s::vector) AS cosine,
                   1 - (second_vector <=> %(query)s::vector) AS second_cosine,
                   {ELAPSED_SQL[unit]} AS elapsed
            FROM memory_episode
            WHERE {where} AND {WHOSE}
            OFFSET 0
        ) AS candidate
        ORDER BY anchor DESC, candidate.id
    """
