"""Finding items for a message: what is at hand, what it calls up, and what came near.

Call inside a ``lab_scope``. Relevances are exact, over the participant's own rows alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from memory.enums import Ranking
from memory.models import RetainedItem
from memory.models.retained_query import RetainedItemQuerySet
from memory.models.retention_rule import Point, Retention
from memory.ranking import Candidate, fused
from memory.relevance import relevance_of
from memory.working_set import Cued, keyword_in

#: A little below the threshold, so that rounding never hides what is then compared exactly.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
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
        return RetainedItem.objects.of_participant(self.participant_id).seen_from(
            self.vector, embedder=self.embedder
        )

    def spoken(self) -> frozenset[str]:
        """The words by which keywords are looked for; none where they don't count."""
        return frozenset(self.words) if self.by_keyword else frozenset()


def at_hand(cue: Cue, now: Point) -> list[Cued]:
    """The whole working set as it is at ``now``."""
    return _cued(cue, cue.rows().defer("vector", "words").at_hand(now), now)


def called_up(cue: Cue, now: Point) -> list[Cued]:
    """What of the archive the message calls up, best first."""
    spoken = cue.spoken()
    near = cue.scale.low + cue.wake_relevance * (cue.scale.high - cue.scale.low) - _ROUNDING
    candidates = cue.rows().archived_by(now)
    candidates = candidates.filter(
        Q(cosine__gte=near) | Q(keyword_words__overlap=sorted(spoken))
        if spoken
        else Q(cosine__gte=near)
    )
    found = [each for each in _cued(cue, candidates, now) if each.called_up(cue.wake_relevance)]
    return _ranked(cue, found)


def nearest(cue: Cue, now: Point, *, limit: int, without: Collection[UUID]) -> list[Cued]:
    """The items nearest to the message, wherever they are kept; the most important without a
    vector."""
    rows = cue.rows().defer("vector", "words").exclude(pk__in=without)
    order = F("cosine").desc(nulls_last=True)
    return _cued(cue, rows.order_by(order, "-importance", "-anchor", "pk")[:limit], now)


def ranked(cue: Cue, now: Point, *, limit: int) -> list[RetainedItem]:
    """The ``limit`` items that fit the message best, wherever they are kept."""
    if cue.ranking is Ranking.DENSE:
        return [each.item for each in nearest(cue, now, limit=limit, without=())]
    return [each.item for each in _ranked(cue, _cued(cue, cue.rows(), now))[:limit]]


def _cued(cue: Cue, rows: Iterable[Any], now: Point) -> list[Cued]:
    spoken = cue.spoken()
    return [
        Cued(
            item=row,
            relevance=None if row.cosine is None else relevance_of(row.cosine, cue.scale),
            keyword=keyword_in(row, spoken),
            score=row.score(retention=cue.retention, now=now),
            archived=row.archived_by(now),
        )
        for row in rows
    ]


def _ranked(cue: Cue, found: Sequence[Cued]) -> list[Cued]:
    """Dense: by relevance, of equals the one accessed last. Hybrid: by meaning and words."""
    if cue.ranking is Ranking.DENSE:
        return sorted(found, key=_dense)
    order = fused(
        (_candidate(each) for each in found),
        cue.words,
        k=cue.fusion_k,
        session_bonus=cue.session_bonus,
    )
    by_id = {each.item.pk: each for each in found}
    return [by_id[key] for key in order]


def _dense(each: Cued) -> tuple[float, float, UUID]:
    relevance = -1.0 if each.relevance is None else each.relevance
    return -relevance, -each.item.anchor.timestamp(), each.item.pk


def _candidate(each: Cued) -> Candidate:
    return Candidate(
        id=each.item.pk,
        at=each.item.anchor,
        cosine_alone=each.relevance,
        words_alone=each.item.words,
        session=each.item.session_id,
    )
