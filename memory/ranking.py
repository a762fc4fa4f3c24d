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
from collections.abc import Hashable, Iterable, Sequence
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
Counts = NDArray[np.int64]
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
    by_words = bm25(alone, wanted, k1=k1, b=b)
    if all(one is other for one, other in zip(alone, in_context, strict=True)):
        by_words_in_context = by_words  # memories without context: not twice the same work
    else:
        by_words_in_context = bm25(in_context, wanted, k1=k1, b=b)
    order = fused_order(
        cosines=(
            numbers(_either(row.cosine_alone, row.cosine_in_context) for row in rows),
            numbers(_either(row.cosine_in_context, row.cosine_alone) for row in rows),
        ),
        words=(by_words, by_words_in_context),
        sessions=[row.session for row in rows],
        k=k,
        session_bonus=session_bonus,
    )
    return [rows[index].id for index in order]


def fused_order(
    *,
    cosines: Sequence[Scores],
    words: Sequence[Scores],
    sessions: Sequence[Hashable],
    k: float = 20.0,
    session_bonus: float = 1.0,
) -> Indices:
    """``fused`` over columns instead of candidates: indices of all rows, the best first.

    Each ranking has shape (rows,). In ``cosines`` NaN stands for a vector that is missing; in
    ``words`` (BM25) 0 is not in the ranking at all. Rows that tie stay in the order given.
    """
    rankings = [
        *(_ranking(scores) for scores in cosines),
        *(_ranking(np.where(scores > 0, scores, math.nan)) for scores in words),
    ]
    scores = reciprocal_rank_fusion(rankings, count=len(sessions), k=k)
    if session_bonus:
        scores = scores + session_bonus * _session_means(sessions, scores)
    return _ranking(scores)


def bm25(
    documents: Sequence[Sequence[str] | None],
    query_words: Iterable[str],
    *,
    k1: float = 1.5,
    b: float = 0.75,
) -> Scores:
    """``counted_bm25`` of each document; 0 where it shares no word with the query."""
    lengths = np.fromiter((len(document or ()) for document in documents), np.int64, len(documents))
    columns = _columns(query_words)
    every_word = chain.from_iterable(document or () for document in documents)
    column_of = np.fromiter(map(columns.get, every_word, repeat(-1)), np.int64, lengths.sum())
    document_of = np.repeat(np.arange(len(documents)), lengths)
    counts = _table(document_of, column_of, (len(documents), len(columns)))
    return counted_bm25(counts, lengths, k1=k1, b=b)


def counted(texts: Sequence[str], query_words: Iterable[str]) -> tuple[Counts, Counts]:
    """How often each text holds each different word of the query, shape (texts, words), and how
    many words it has, shape (texts,).

    A text is its content words, separated by single spaces. All are cut in one go, a third of
    the time of one by one.
    """
    columns = _columns(query_words)
    if not texts:
        return np.zeros((0, len(columns)), np.int64), np.zeros(0, np.int64)
    tokens = " \n ".join(texts).split(" ")
    ends, empty = len(columns), len(columns) + 1
    column_of = np.fromiter(
        map({**columns, "\n": ends, "": empty}.get, tokens, repeat(-1)), np.int64, len(tokens)
    )
    document_of = np.cumsum(column_of == ends)
    lengths = np.bincount(document_of[(column_of != ends) & (column_of != empty)])
    lengths = np.pad(lengths, (0, len(texts) - len(lengths)))
    column_of[column_of >= ends] = -1
    return _table(document_of, column_of, (len(texts), len(columns))), lengths


def counted_bm25(counts: Counts, lengths: Counts, *, k1: float = 1.5, b: float = 0.75) -> Scores:
    """Okapi BM25 for a query, shape (documents,); 0 where a document holds none of its words.

    score = Σ idf(w)·f·(k1 + 1) / (f + k1·(1 − b + b·length/mean length)), f the word's count in
    the document, idf(w) = ln(1 + (N − n + 0.5)/(n + 0.5)) with n of N documents holding it, over
    the query's different words. ``counts`` (documents, words) holds f. ``k1`` ≥ 0 saturates
    repetition, ``b`` in [0, 1] discounts length.
    Robertson & Zaragoza (2009); the idf, never negative, as in Lucene.
    """
    size = len(lengths)
    scores = np.zeros(size)
    if not lengths.any():
        return scores
    damping = k1 * (1 - b + b * lengths * size / lengths.sum())
    # One word after the other: a sum over the whole table may round otherwise elsewhere.
    for count in counts.T:
        held = np.flatnonzero(count)
        idf = math.log(1 + (size - len(held) + 0.5) / (len(held) + 0.5))
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


def numbers(values: Iterable[float | None]) -> Scores:
    """With NaN for what is missing."""
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _columns(query_words: Iterable[str]) -> dict[str, int]:
    return {word: column for column, word in enumerate(dict.fromkeys(query_words))}


def _table(rows: Indices, columns: Counts, shape: tuple[int, int]) -> Counts:
    """How often each pair of a row and a column occurs; a column of −1 is none."""
    real = columns >= 0
    cells = rows[real] * shape[1] + columns[real]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


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
