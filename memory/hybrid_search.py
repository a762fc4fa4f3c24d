"""The ranking ``hybrid`` over episodes: by meaning and by words, each alone and in context.

Forgetting comes first and is the same as in ``memory.search``: the probability goes by the
relevance of ``vector`` alone. Then all that a cue could still bring back is ranked, so that how
rare a word is doesn't depend on the query, and of those the ones that reach the threshold remain,
in that order. Words are scored here and not in Postgres: under row-level security it wouldn't use
a full-text index, and a participant's episodes are few.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection

from memory import search
from memory.enums import Encoding, Ranking, TimeUnit
from memory.ranking import Candidate, fused
from memory.search import ELAPSED_SQL, PROBABILITY_SQL, WHOSE, Found, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How an arm fuses rankings; ``encoding`` says what its ``vector`` was made from."""

    encoding: Encoding
    k: float = 20.0
    session_bonus: float = 1.0

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Fusion | None:
        """The fusion that an arm's complete parameters describe; None where it ranks densely."""
        if Ranking(parameters["ranking"]) is Ranking.DENSE:
            return None
        return cls(
            encoding=Encoding(parameters["encoding"]),
            k=parameters["fusion_k"],
            session_bonus=parameters["session_bonus"],
        )


def recall(query: Query, fusion: Fusion, *, limit: int) -> list[Found]:
    """The ``limit`` best of the episodes that reach the threshold."""
    probable = _candidates(query, fusion, where="recallable_until > %(now)s")
    passing = {
        candidate.id
        for candidate, probability in probable
        if probability >= query.curve.recall_threshold
    }
    order = _order(query, fusion, [candidate for candidate, _probability in probable])
    return search.read(query, [id_ for id_ in order if id_ in passing][:limit])


def nearest(
    query: Query, fusion: Fusion, *, limit: int, without: Collection[UUID] = ()
) -> list[Found]:
    """The ``limit`` best of all episodes, forgotten or not."""
    candidates = [candidate for candidate, _p in _candidates(query, fusion, where="true")]
    excepted = frozenset(without)
    order = (id_ for id_ in _order(query, fusion, candidates) if id_ not in excepted)
    return search.read(query, [id_ for id_, _ in zip(order, range(limit), strict=False)])


def _order(query: Query, fusion: Fusion, candidates: list[Candidate]) -> list[UUID]:
    return fused(candidates, query.words, k=fusion.k, session_bonus=fusion.session_bonus)


def _candidates(query: Query, fusion: Fusion, *, where: str) -> list[tuple[Candidate, float]]:
    """The query's episodes with their probability of recall."""
    with connection.cursor() as cursor:
        cursor.execute(_statement(query.curve.time_unit, where=where), search.parameters(query))
        return [(_candidate(row, fusion), row[-1]) for row in cursor.fetchall()]


@cache
def _statement(unit: TimeUnit, *, where: str) -> str:
    """One scan of the rows ``where``; the fence as in ``memory.search``.

    Thousands of times and ids would take longer to turn into Python's than all of the ranking.
    """
    return f"""
        SELECT id, anchored, session, cosine, second_cosine, words, words_before,
               {PROBABILITY_SQL} AS probability
        FROM (
            SELECT id, g, salience, words, words_before, session_id::text AS session,
                   date_part('epoch', anchor) AS anchored,
                   1 - (vector <=> %(query)s::vector) AS cosine,
                   1 - (second_vector <=> %(query)s::vector) AS second_cosine,
                   {ELAPSED_SQL[unit]} AS elapsed
            FROM memory_episode
            WHERE {where} AND {WHOSE}
            OFFSET 0
        ) AS candidate
    """


def _candidate(row: tuple[Any, ...], fusion: Fusion) -> Candidate:
    id_, anchored, session, cosine, second, words, words_before, _probability = row
    in_context, alone = (
        (cosine, second) if fusion.encoding is Encoding.IN_CONTEXT else (second, cosine)
    )
    said = words.split()
    return Candidate(
        id=id_,
        at=anchored,
        session=session,
        cosine_alone=alone,
        cosine_in_context=in_context,
        words_alone=said,
        words_in_context=[*words_before.split(), *said],
    )
