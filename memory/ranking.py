"""Which memories a query finds first: four rankings made one. Pure.

A memory is compared by meaning (cosine) and by words (BM25), each time alone and together with
what was said just before it. Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009) needs no
common scale of the four; the k of 20 instead of their 60 suits corpora of some thousand messages.

BM25 is our own few lines: a participant's memories change with every session and are few, so an
index of all their words (what the libraries build first) would cost more than the question that
it answers. Only the words of the query are counted here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, repeat
from operator import attrgetter
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Indices = NDArray[np.intp]
T = TypeVar("T")

#: How many of a session's memories say how well the session as a whole fits a query.
SESSION_BEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One memory as a query sees it.

    Cosines are in [−1, 1]. What has no vector or words in context, because nothing was said
    before it or because its kind of memory has no context, stands there with those it has alone,
    and the other way round; without any vector it takes part by its words only.
    ``at`` (study time, or its seconds since 1970) decides ties, the later first, then ``id``.
    ``session`` is what it belongs to, for the session bonus.
    """

    id: UUID
    at: datetime | float
    cosine_alone: float | None = None
    cosine_in_context: float | None = None
    words_alone: Sequence[str] | None = None
    words_in_context: Sequence[str] | None = None
    session: Hashable = None


def fused(
    candidates: Iterable[Candidate],
    query_words: Iterable[str],
    *,
    k: float = 20.0,
    session_bonus: float = 1.0,
    k1: float = 1.5,
    b: float = 0.75,
) -> list[UUID]:
    """Ids of all candidates, what fits the query best first.

    ``query_words`` are cut as the candidates' words were (``memory.words``). ``session_bonus``
    times the mean fused score of a session's three best is added to each of its candidates.
    ``k`` > 0; ``k1`` and ``b`` as in ``bm25``.
    """
    rows = sorted(candidates, key=lambda row: row.id.int)
    rows.sort(key=attrgetter("at"), reverse=True)
    wanted = list(query_words)
    alone = [_either(row.words_alone, row.words_in_context) for row in rows]
    in_context = [_either(row.words_in_context, row.words_alone) for row in rows]
    rankings = [
        _ranking(_numbers(_either(row.cosine_alone, row.cosine_in_context) for row in rows)),
        _ranking(_numbers(_either(row.cosine_in_context, row.cosine_alone) for row in rows)),
        _ranking(_found(bm25(alone, wanted, k1=k1, b=b))),
        _ranking(_found(bm25(in_context, wanted, k1=k1, b=b))),
    ]
    scores = reciprocal_rank_fusion(rankings, count=len(rows), k=k)
    if session_bonus:
        scores = scores + session_bonus * _session_means([row.session for row in rows], scores)
    return [rows[index].id for index in _ranking(scores)]


def bm25(
    documents: Sequence[Sequence[str] | None],
    query_words: Iterable[str],
    *,
    k1: float = 1.5,
    b: float = 0.75,
) -> Scores:
    """Okapi BM25 of each document for a query, shape (documents,); 0 where they share no word.

    score = Σ idf(w)·f·(k1 + 1) / (f + k1·(1 − b + b·length/mean length)), f the word's count in
    the document, idf(w) = ln(1 + (N − n + 0.5)/(n + 0.5)) with n of N documents holding it, over
    the query's different words. ``k1`` ≥ 0 saturates repetition, ``b`` in [0, 1] discounts length.
    Robertson & Zaragoza (2009); the idf, never negative, as in Lucene.
    """
    size = len(documents)
    scores = np.zeros(size)
    lengths = np.fromiter((len(document or ()) for document in documents), np.int64, size)
    columns = {word: column for column, word in enumerate(dict.fromkeys(query_words))}
    if not columns or not lengths.any():
        return scores
    counts = _counts(documents, lengths, columns)
    damping = k1 * (1 - b + b * lengths * size / lengths.sum())
    # One word after the other: a sum over the whole table may round otherwise elsewhere.
    for count in counts.T:
        holding = np.count_nonzero(count)
        idf = math.log(1 + (size - holding + 0.5) / (holding + 0.5))
        held = count > 0
        scores[held] += idf * count[held] * (k1 + 1) / (count[held] + damping[held])
    return scores


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[int] | Indices], *, count: int, k: float = 20.0
) -> Scores:
    """Σ 1/(k + rank) over the rankings that hold each of 0 … ``count`` − 1, ranks from 1.

    A ranking lists what it found, best first; what it leaves out gets nothing from it.
    Cormack, Clarke & Büttcher (2009).
    """
    parts = np.zeros((len(rankings), count))
    for part, ranking in zip(parts, rankings, strict=True):
        part[np.asarray(ranking, np.intp)] = 1.0 / (k + np.arange(1, len(ranking) + 1))
    # Smallest first, so that the same ranks in another order make the same sum: a tie stays one.
    parts.sort(axis=0)
    return functools.reduce(np.add, parts, np.zeros(count))


def _counts(
    documents: Sequence[Sequence[str] | None],
    lengths: NDArray[np.int64],
    columns: Mapping[str, int],
) -> NDArray[np.int64]:
    """How often each document (rows) holds each word of the query (columns)."""
    every_word = chain.from_iterable(document or () for document in documents)
    column_of = np.fromiter(map(columns.get, every_word, repeat(-1)), np.int64, lengths.sum())
    document_of = np.repeat(np.arange(len(documents)), lengths)
    found = column_of >= 0
    cells = document_of[found] * len(columns) + column_of[found]
    size = (len(documents), len(columns))
    return np.bincount(cells, minlength=size[0] * size[1]).reshape(size)


def _numbers(values: Iterable[float | None]) -> Scores:
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _found(scores: Scores) -> Scores:
    """What shares no word with the query is not in the ranking by words."""
    return np.where(scores > 0, scores, math.nan)


def _ranking(scores: Scores) -> Indices:
    """Indices of what has a score, highest first; ties stay in the order given."""
    having = np.flatnonzero(~np.isnan(scores))
    return having[np.argsort(-scores[having], kind="stable")]


def _session_means(sessions: Sequence[Hashable], scores: Scores) -> Scores:
    """For each candidate the mean score of its session's three best."""
    numbers: dict[Hashable, int] = {}
    of_session = np.array(
        [numbers.setdefault(session, len(numbers)) for session in sessions], np.intp
    )
    means = np.array(
        [
            np.sort(scores[of_session == number])[: -SESSION_BEST - 1 : -1].mean()
            for number in range(len(numbers))
        ]
    )
    return means[of_session]


def _either(first: T | None, second: T | None) -> T | None:
    return second if first is None else first
