"""Questions about items, and the changes that many of them undergo at once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import models
from django.db.models.functions import Coalesce, Extract, Greatest
from numpy import float32
from numpy.typing import NDArray
from pgvector.django import CosineDistance

from memlab.core.tenancy.models import TenantQuerySet
from memory.enums import EventKind, MemoryKind, RetentionUnit, Shelf
from memory.models.event import MemoryEvent
from memory.models.retention_rule import Point, Retention

if TYPE_CHECKING:
    from memory.models.retained import RetainedItem, Worded

#: What an access changes, what an offer for rehearsal changes, and what is said again changes.
ACCESS = ("state", "hits", "anchor", "anchor_turn", "archive_at", "archive_turn", "archived_at")
REHEARSAL = ("rehearsals", "rehearsed_at")
WORDING = ("text", "keywords", "keyword_words", "words", "vector", "message_ids")


class RetainedItemQuerySet(TenantQuerySet["RetainedItem"]):
    def of_participant(self, participant_id: int) -> RetainedItemQuerySet:
        return self.filter(participant_id=participant_id)

    def working(self) -> RetainedItemQuerySet:
        """What stands in the working set, due items included."""
        return self.filter(state=Shelf.WORKING)

    def due(self, now: Point) -> RetainedItemQuerySet:
        """What stands in the working set though its moment has come."""
        return self.working().filter(
            models.Q(archive_at__lte=now.at) | models.Q(archive_turn__lte=now.turn)
        )

    def at_hand(self, now: Point) -> RetainedItemQuerySet:
        """The working set as it is at ``now``, whether or not it has been maintained."""
        return self.working().filter(
            models.Q(archive_at__isnull=True) | models.Q(archive_at__gt=now.at),
            models.Q(archive_turn__isnull=True) | models.Q(archive_turn__gt=now.turn),
        )

    def archived_by(self, now: Point) -> RetainedItemQuerySet:
        """The archive as it is at ``now``, whether or not what is due has been put there."""
        return self.filter(
            models.Q(state=Shelf.ARCHIVED)
            | models.Q(archive_at__lte=now.at)
            | models.Q(archive_turn__lte=now.turn)
        )

    def about_to_leave(self, now: Point, *, within: float) -> RetainedItemQuerySet:
        """What of the working set leaves within so many units, what leaves next first."""
        soon = models.Q(archive_at__lte=now.at + timedelta(days=within))
        soon |= models.Q(archive_turn__lte=now.turn + math.ceil(within))
        return self.at_hand(now).filter(soon).order_by("archive_at", "archive_turn", "pk")

    def best_first(self, retention: Retention, now: Point) -> RetainedItemQuerySet:
        """By the score at ``now``, of equals the one accessed last.

        Computed where the rows are, in the same steps as ``Retention.score``.
        """
        return self.annotate(
            present_score=models.ExpressionWrapper(
                models.F("importance") * (1 + models.F("hits"))
                - _elapsed(retention, now) * retention.rate,
                output_field=models.FloatField(),
            )
        ).order_by("-present_score", "-anchor", "pk")

    def next_leaving(self) -> datetime | None:
        """The study time at which the next item leaves; None where time alone moves nothing."""
        return self.working().aggregate(first=models.Min("archive_at"))["first"]

    def seen_from(self, vector: NDArray[float32] | None, *, embedder: str) -> RetainedItemQuerySet:
        """With each row's ``cosine`` to ``vector``, shape (dimensions,); null without one, and for
        rows of another embedder, which are never compared. The stored vectors stay behind."""
        cosine: models.expressions.Combinable = models.Value(None)
        if vector is not None:
            near = 1.0 - CosineDistance("vector", vector)
            cosine = models.Case(models.When(embedder=embedder, then=near), default=None)
        return self.annotate(
            cosine=models.ExpressionWrapper(cosine, output_field=models.FloatField(null=True))
        ).defer("vector")

    def heard_in(self, words: Collection[str]) -> RetainedItemQuerySet:
        """With each row's keywords as ``heard``, if any of their words is among ``words``."""
        heard: models.expressions.Combinable = models.Value(None)
        if words:
            spoken = models.Q(keyword_words__overlap=sorted(words))
            heard = models.Case(models.When(spoken, then="keywords"), default=None)
        keywords = self.model._meta.get_field("keywords")
        return self.annotate(heard=models.ExpressionWrapper(heard, output_field=keywords))

    def nearest_to(self, vector: NDArray[float32], *, embedder: str) -> tuple[UUID, float] | None:
        """Id and cosine of the item nearest to ``vector``, shape (dimensions,), if there is any."""
        cosine = models.ExpressionWrapper(
            1.0 - CosineDistance("vector", vector), output_field=models.FloatField()
        )
        rows = self.filter(embedder=embedder).annotate(near=cosine).order_by("-near", "pk")
        best: tuple[UUID, float] | None = rows.values_list("pk", "near").first()
        return best

    def touched_by(self, reply: UUID) -> frozenset[UUID]:
        """Ids of what a reply's message called up, hit or woken."""
        events = MemoryEvent.objects.filter(
            reply_id=reply,
            memory_kind=MemoryKind.RETAINED,
            event__in=(EventKind.RECALLED, EventKind.WOKEN),
        )
        return frozenset(events.values_list("memory_id", flat=True))

    def encode(self, items: Iterable[RetainedItem], *, now: datetime, reply: UUID) -> int:
        """Store new items with an event each; how many were new. Those known stay as they are."""
        offered = {item.pk: item for item in items}
        known = set(self.filter(pk__in=offered).values_list("pk", flat=True))
        new = [item for key, item in offered.items() if key not in known]
        self.bulk_create(new)
        MemoryEvent.objects.record(item.encoding_event(now, reply=reply) for item in new)
        return len(new)

    def archive_due(self, now: Point) -> int:
        """Archive what is due, each item as of its own moment, with an event each; how many.

        What isn't due is neither locked nor written. An item that is due by turns leaves at the
        study time of ``now``.
        """
        rows = list(
            self.due(now)
            .order_by("pk")
            .only("id", "lab_id", "participant_id", "state", "archive_at", "archived_at")
            .select_for_update()
        )
        if not rows:
            return 0
        events = [row.archive(row.archive_at or now.at) for row in rows]
        self.filter(pk__in=[row.pk for row in rows]).update(
            state=Shelf.ARCHIVED, archived_at=Coalesce("archive_at", models.Value(now.at))
        )
        MemoryEvent.objects.record(sorted(events, key=lambda event: event.study_at))
        return len(rows)

    def touch(self, ids: Collection[UUID], *, retention: Retention, now: Point, reply: UUID) -> int:
        """Hit or wake what a reply's message called up, with an event each; how many.

        Rows are locked in the order of their ids. Whoever comes second with the same reply finds
        its events and changes nothing.
        """
        rows = self._locked(ids)
        if not rows or self.touched_by(reply):
            return 0
        events = [
            (row.wake if row.state == Shelf.ARCHIVED else row.hit)(
                retention=retention, now=now, reply=reply
            )
            for row in rows
        ]
        self.bulk_update(rows, ACCESS)
        MemoryEvent.objects.record(events)
        return len(rows)

    def restate(
        self,
        item: UUID,
        said: Worded,
        *,
        message: UUID,
        access: Retention | None,
        now: Point,
        reply: UUID,
    ) -> None:
        """Take a participant's words for an item said again, with its event; see the row's."""
        row = self.filter(pk=item).defer("vector", "words").select_for_update().get()
        event = row.restate(said, message=message, access=access, now=now, reply=reply)
        row.save(update_fields=[*WORDING, *ACCESS])
        MemoryEvent.objects.record([event])

    def rehearse(self, item: UUID, *, at: datetime, reply: UUID) -> int:
        """Note that an item was offered to the model to bring up, once a reply; how many."""
        rows = self._locked([item])
        offered = MemoryEvent.objects.filter(reply_id=reply, event=EventKind.REHEARSED)
        if not rows or offered.exists():
            return 0
        event = rows[0].rehearse(at=at, reply=reply)
        rows[0].save(update_fields=REHEARSAL)
        MemoryEvent.objects.record([event])
        return 1

    def _locked(self, ids: Collection[UUID]) -> list[RetainedItem]:
        rows = self.filter(pk__in=ids).order_by("pk").defer("vector", "words")
        return list(rows.select_for_update())


def _elapsed(retention: Retention, now: Point) -> models.expressions.Combinable:
    """T of each row, in the unit of ``retention``; never negative."""
    zero = models.Value(0.0)
    if retention.time_unit is RetentionUnit.TURNS:
        turns = models.Value(now.turn) - models.F("anchor_turn")
        return Greatest(models.ExpressionWrapper(turns, models.FloatField()), zero)
    since = Extract("anchor", "epoch", tzinfo=UTC, output_field=models.FloatField())
    days = (models.Value(now.at.timestamp()) - since) / models.Value(86400.0)
    return Greatest(models.ExpressionWrapper(days, models.FloatField()), zero)
