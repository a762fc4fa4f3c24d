"""Finding items for a message: what is at hand, what it calls up, and what came near.

Call inside a ``lab_scope``. Relevances are exact, over the participant's own rows alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet
from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from memory.enums import Ranking
from memory.models import RetainedItem
from memory.models.retained_query import RetainedItemQuerySet
from memory.models.retention_rule import Point, Retention
from memory.ranking import Candidate, fused
from memory.relevance import relevance_of
from memory.working_set import Cued, Item, Sketch, keyword_in

#: A little below the threshold, so that rounding never hides what is then compared exactly.
_ROUNDING = 1e-6
#: The columns of a ``Sketch``, in its order.
_SKETCHED = ("pk", "text", "importance", "hits", "anchor", "anchor_turn", "rehearsals")


@dataclass(frozen=True, kw_only=True)
class Cue:
    """A message and the conditions under which it calls an item up.

    ``words`` are those of the message (``memory.words``). ``vector`` has shape (dimensions,) and
    comes from the embedder whose id is ``embedder``; None if embedding failed. ``scale`` maps the
    cosine to r.
    """

    participant_id: int
    words: tuple[str, ...]
    vector: NDArray[float32] | None
    embedder: str
    scale: CalibrationPoint
    retention: Retention
    wake_relevance: float
    by_keyword: bool
    ranking: Ranking
    fusion_k: float
    session_bonus: float

    def rows(self) -> RetainedItemQuerySet:
        rows = RetainedItem.objects.of_participant(self.participant_id)
        return rows.seen_from(self.vector, embedder=self.embedder).heard_in(self.spoken)

    @cached_property
    def spoken(self) -> frozenset[str]:
        """The words by which keywords are looked for; none where they don't count."""
        return frozenset(self.words) if self.by_keyword else frozenset()


def at_hand(cue: Cue, now: Point, *, most: int) -> list[Cued[Sketch]]:
    """Of the working set as it is at ``now`` what the message calls up, and the ``most`` that score
    best besides."""
    working = cue.rows().at_hand(now)
    best = working.best_first(cue.retention, now)[:most]
    found = [*_near(cue, working, now, archived=False), *_sketched(cue, best, now, archived=False)]
    return list({each.item.pk: each for each in found}.values())


def called_up(cue: Cue, now: Point) -> list[Cued[Sketch]]:
    """What of the archive the message calls up, best first."""
    ranking = () if cue.ranking is Ranking.DENSE else ("session_id", "words")
    cued = _near(cue, cue.rows().archived_by(now), now, archived=True, further=ranking)
    found = {each.item.pk: each for each in cued if each.called_up(cue.wake_relevance)}
    if cue.ranking is Ranking.DENSE:
        return sorted(found.values(), key=_dense)
    return [found[key] for key in _fused(cue, found.values())]


def leaving(cue: Cue, now: Point, *, within: float) -> list[Cued[Sketch]]:
    """What of the working set leaves within so many units without the message calling it up, what
    leaves next first."""
    rows = cue.rows().about_to_leave(now, within=within)
    cued = _sketched(cue, rows, now, archived=False)
    return [each for each in cued if not each.called_up(cue.wake_relevance)]


def _near(
    cue: Cue,
    rows: RetainedItemQuerySet,
    now: Point,
    *,
    archived: bool,
    further: Sequence[str] = (),
) -> list[Cued[Sketch]]:
    """Everything that the message may call up: no less, and hardly more."""
    near = cue.scale.low + cue.wake_relevance * (cue.scale.high - cue.scale.low) - _ROUNDING
    called = Q(cosine__gte=near)
    if cue.spoken:
        called |= Q(keyword_words__overlap=sorted(cue.spoken))
    return _sketched(cue, rows.filter(called), now, archived=archived, further=further)


def in_full(found: Sequence[Cued[Sketch]]) -> list[Cued[RetainedItem]]:
    """The same items with all of their rows but vectors and words."""
    ids = [each.item.pk for each in found]
    rows = RetainedItem.objects.defer("vector", "words").in_bulk(ids)
    return [
        Cued(
            item=rows[each.item.pk],
            relevance=each.relevance,
            keyword=each.keyword,
            score=each.score,
            archived=each.archived,
        )
        for each in found
    ]


def nearest(
    cue: Cue, now: Point, *, limit: int, without: Collection[UUID]
) -> list[Cued[RetainedItem]]:
    """The items nearest to the message, wherever they are kept; the most important without a
    vector."""
    rows: QuerySet[Any] = cue.rows().defer("vector", "words").exclude(pk__in=without)
    order = F("cosine").desc(nulls_last=True)
    return [
        _cued(cue, row, row.cosine, row.heard, now, archived=row.archived_by(now))
        for row in rows.order_by(order, "-importance", "-anchor", "pk")[:limit]
    ]


def ranked(cue: Cue, now: Point, *, limit: int) -> list[RetainedItem]:
    """The ``limit`` items that fit the message best, wherever they are kept."""
    if cue.ranking is Ranking.DENSE:
        return [each.item for each in nearest(cue, now, limit=limit, without=())]
    every = _sketched(cue, cue.rows(), now, archived=False, further=("session_id", "words"))
    best = _fused(cue, every)[:limit]
    rows = RetainedItem.objects.defer("vector", "words").in_bulk(best)
    return [rows[key] for key in best]


def _sketched(
    cue: Cue,
    rows: RetainedItemQuerySet,
    now: Point,
    *,
    archived: bool,
    further: Sequence[str] = (),
) -> list[Cued[Sketch]]:
    """Rows of which it is known whether they are ``archived``."""
    columns = rows.values_list("cosine", "heard", *_SKETCHED, *further)
    return [
        _cued(cue, Sketch(*sketched), cosine, heard, now, archived=archived)
        for cosine, heard, *sketched in columns
    ]


def _cued(
    cue: Cue,
    item: Item,
    cosine: float | None,
    heard: Sequence[str] | None,
    now: Point,
    *,
    archived: bool,
) -> Cued[Item]:
    return Cued(
        item=item,
        relevance=None if cosine is None else relevance_of(cosine, cue.scale),
        keyword=keyword_in(heard or (), cue.spoken),
        score=cue.retention.score(item, now=now),
        archived=archived,
    )


def _fused(cue: Cue, found: Iterable[Cued[Sketch]]) -> list[UUID]:
    """By meaning and words."""
    return fused(
        (_candidate(each) for each in found),
        cue.words,
        k=cue.fusion_k,
        session_bonus=cue.session_bonus,
    )


def _dense(each: Cued[Sketch]) -> tuple[float, float, UUID]:
    """By relevance, of equals the one accessed last."""
    relevance = -1.0 if each.relevance is None else each.relevance
    return -relevance, -each.item.anchor.timestamp(), each.item.pk


def _candidate(each: Cued[Sketch]) -> Candidate:
    return Candidate(
        id=each.item.pk,
        at=each.item.anchor,
        cosine_alone=each.relevance,
        words_alone=each.item.words,
        session=each.item.session_id,
    )
