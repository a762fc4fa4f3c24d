"""Which memories a query finds first: four rankings made one. Pure.

A memory is compared by meaning (cosine) and by words (BM25), each time alone and together with
what was said just before it. Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009) needs no
common scale of the four; the k of 20 instead of their 60 suits corpora of some thousand messages.

BM25 is our own few lines: a participant's memories change with every session and are few, so an
index of all their words (what the libraries build first) would cost more than the question that
it answers. Only the words of the query are counted here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

T = TypeVar("T")

#: How many of a session's memories say how well the session as a whole fits a query.
SESSION_BEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One memory as a query sees it.

    Cosines are in [−1, 1]. What has no vector or words in context, because nothing was said
    before it or because its kind of memory has no context, stands there with those it has alone,
    and the other way round; without any vector it takes part by its words only.
    ``at`` (study time) decides ties, the later first, then ``id``. ``session`` is what it belongs
    to, for the session bonus.
    """

    id: UUID
    at: datetime
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
    session_bonus: float = 0.0,
    k1: float = 1.5,
    b: float = 0.75,
) -> list[UUID]:
    """Ids of all candidates, what fits the query best first.

    ``query_words`` are cut as the candidates' words were (``memory.words``). ``session_bonus``
    times the mean fused score of a session's three best is added to each of its candidates.
    ``k`` > 0; ``k1`` and ``b`` as in ``bm25``.
    """
    rows = sorted(candidates, key=lambda row: row.id.int)
    rows.sort(key=lambda row: row.at, reverse=True)
    wanted = list(query_words)
    alone = [_either(row.words_alone, row.words_in_context) for row in rows]
    in_context = [_either(row.words_in_context, row.words_alone) for row in rows]
    scores = reciprocal_rank_fusion(
        [
            _ranking([_either(row.cosine_alone, row.cosine_in_context) for row in rows]),
            _ranking([_either(row.cosine_in_context, row.cosine_alone) for row in rows]),
            _ranking([score or None for score in bm25(alone, wanted, k1=k1, b=b)]),
            _ranking([score or None for score in bm25(in_context, wanted, k1=k1, b=b)]),
        ],
        count=len(rows),
        k=k,
    )
    if session_bonus:
        scores = _with_session([row.session for row in rows], scores, session_bonus)
    return [rows[index].id for index in _ranking(scores)]


def bm25(
    documents: Sequence[Sequence[str] | None],
    query_words: Iterable[str],
    *,
    k1: float = 1.5,
    b: float = 0.75,
) -> list[float]:
    """Okapi BM25 of each document for a query; 0 where they share no word.

    score = Σ idf(w)·f·(k1 + 1) / (f + k1·(1 − b + b·length/mean length)), f the word's count in
    the document, idf(w) = ln(1 + (N − n + 0.5)/(n + 0.5)) with n of N documents holding it, over
    the query's different words. ``k1`` ≥ 0 saturates repetition, ``b`` in [0, 1] discounts length.
    Robertson & Zaragoza (2009); the idf, never negative, as in Lucene.
    """
    wanted = frozenset(query_words)
    found: dict[int, dict[str, int]] = {}
    holding: dict[str, int] = defaultdict(int)
    total = 0
    for index, document in enumerate(documents):
        if not document:
            continue
        total += len(document)
        shared = wanted.intersection(document)
        if shared:
            found[index] = {word: document.count(word) for word in shared}
            for word in shared:
                holding[word] += 1
    size = len(documents)
    idf = {word: math.log(1 + (size - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
    scores = [0.0] * size
    for index, counts in found.items():
        length = len(documents[index] or ()) * size / total
        damping = k1 * (1 - b + b * length)
        scores[index] = math.fsum(
            idf[word] * count * (k1 + 1) / (count + damping) for word, count in counts.items()
        )
    return scores


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[int]], *, count: int, k: float = 20.0
) -> list[float]:
    """Σ 1/(k + rank) over the rankings that hold each of 0 … ``count`` − 1, ranks from 1.

    A ranking lists what it found, best first; what it leaves out gets nothing from it.
    Cormack, Clarke & Büttcher (2009).
    """
    scores = [0.0] * count
    for ranking in rankings:
        for rank, index in enumerate(ranking, start=1):
            scores[index] += 1.0 / (k + rank)
    return scores


def _ranking(scores: Sequence[float | None]) -> list[int]:
    """Indices of what has a score, highest first; ties stay in the order given."""
    having = [(score, index) for index, score in enumerate(scores) if score is not None]
    having.sort(key=lambda pair: -pair[0])
    return [index for _score, index in having]


def _with_session(
    sessions: Sequence[Hashable], scores: Sequence[float], weight: float
) -> list[float]:
    of_session: dict[Hashable, list[float]] = defaultdict(list)
    for session, score in zip(sessions, scores, strict=True):
        of_session[session].append(score)
    bonus: dict[Hashable, float] = {}
    for session, all_scores in of_session.items():
        best = sorted(all_scores, reverse=True)[:SESSION_BEST]
        bonus[session] = weight * math.fsum(best) / len(best)
    return [score + bonus[session] for session, score in zip(sessions, scores, strict=True)]


def _either(first: T | None, second: T | None) -> T | None:
    return second if first is None else first
