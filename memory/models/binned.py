"""Items of the four bins: facts, relations, affects, and examples of style."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memory.enums import Bin, Cause, EventKind, MemoryKind
from memory.formulas.regulation import State
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.event import MemoryEvent
from memory.models.profile import NORMALISED_CHARACTERS, TRAIT_CHARACTERS
from memory.models.state_json import state_json

ITEM_CHARACTERS = TRAIT_CHARACTERS
#: Of items of one moment, whoever the participant is.
SAME_ORDER = ("bin", "normalised", "pk")


def item_id(*, participant: UUID, bin_: Bin, normalised_text: str, reply: UUID) -> UUID:
    """The same statement in the same bin is the same item. A style belongs to its one turn."""
    turn = f":{reply}" if bin_ is Bin.STYLE else ""
    return uuid5(participant, f"binned:{bin_}{turn}:{normalised_text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of the items offered: rows stored by bin, and what else happened, by name."""

    written: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)


class BinnedItemQuerySet(TenantQuerySet["BinnedItem"]):
    def of_participant(self, participant_id: int) -> BinnedItemQuerySet:
        return self.filter(participant_id=participant_id).order_by("at", "pk")

    def ingest(
        self,
        items: Iterable[BinnedItem],
        *,
        participant_id: int,
        capacity: Mapping[Bin, int],
        now: datetime,
        reply: UUID,
    ) -> Ingested:
        """Store the new items of one turn, with an event each, and keep every bin within its room.

        A relation or an affect that is stated again is renewed, a fact stays as it is. A full bin
        of facts refuses a new one, for no fact is ever given up; another bin gives up its least
        important items, be it the new one.
        """
        offered = {item.pk: item for item in reversed(list(items))}
        offered = dict(reversed(offered.items()))
        known = {row.pk: row for row in self._without_vectors(offered).select_for_update()}
        room = capacity[Bin.FACT] - self._count(participant_id, Bin.FACT)
        events, new, counts = [], [], Counter[str]()
        for item in offered.values():
            if item.pk in known:
                if item.bin == Bin.FACT:
                    counts["known"] += 1
                else:
                    events.append(known[item.pk].renew(item, now=now, reply=reply))
            elif item.bin == Bin.FACT and room <= 0:
                counts["refused"] += 1
                events.append(item.refusal(now=now, reply=reply))
            else:
                room -= item.bin == Bin.FACT
                new.append(item)
                events.append(item.ingestion(now=now, reply=reply))
        self.bulk_create(new)
        MemoryEvent.objects.record(events)
        room_for = {bin_: capacity[bin_] for bin_ in Bin if any(item.bin == bin_ for item in new)}
        counts["evicted"] = self._make_room(participant_id, room_for, now=now, reply=reply)
        return Ingested(
            written=dict(Counter(item.bin for item in new)),
            dropped={name: count for name, count in counts.items() if count},
        )

    def evict(self, items: Collection[BinnedItem], *, now: datetime, reply: UUID) -> int:
        """Give up items for want of room, with an event each. Never a fact: ValueError."""
        if any(item.bin == Bin.FACT for item in items):
            raise ValueError("A fact is never given up.")
        return self._remove(
            items, EventKind.EVICTED, Cause.CAPACITY, at=lambda item: now, reply=reply
        )

    def expire(self, *, participant_id: int, now: datetime) -> int:
        """Give up what has had its time by ``now``, with an event each, at its own moment."""
        rows = self.filter(participant_id=participant_id, expires_at__lte=now)
        items = list(rows.defer("vector", "vector_in_context").order_by("expires_at", *SAME_ORDER))
        return self._remove(
            items, EventKind.EXPIRED, Cause.PASSIVE, at=lambda item: item.expires_at or now
        )

    def settle(self, importances: Mapping[UUID, float], *, run: UUID, now: datetime) -> int:
        """Give items the importance that a sleep finds, with an event each; by their ids."""
        items = list(self._without_vectors(importances).order_by("at", *SAME_ORDER))
        events = [item.settle(importances[item.pk], run=run, now=now) for item in items]
        self.bulk_update(items, ["importance", "settled_at"])
        MemoryEvent.objects.record(events)
        return len(items)

    def _make_room(
        self, participant_id: int, capacity: Mapping[Bin, int], *, now: datetime, reply: UUID
    ) -> int:
        given_up = 0
        for bin_, most in capacity.items():
            beyond = 0 if bin_ is Bin.FACT else self._count(participant_id, bin_) - most
            if beyond > 0:
                rows = self.filter(participant_id=participant_id, bin=bin_)
                least = rows.defer("vector", "vector_in_context").order_by(
                    "importance", "at", *SAME_ORDER
                )
                given_up += self.evict(list(least[:beyond]), now=now, reply=reply)
        return given_up

    def _count(self, participant_id: int, bin_: Bin) -> int:
        return int(self.filter(participant_id=participant_id, bin=bin_).count())

    def _without_vectors(self, ids: Iterable[UUID]) -> BinnedItemQuerySet:
        return self.filter(pk__in=list(ids)).defer("vector", "vector_in_context")

    def _remove(
        self,
        items: Collection[BinnedItem],
        kind: EventKind,
        cause: Cause,
        *,
        at: Callable[[BinnedItem], datetime],
        reply: UUID | None = None,
    ) -> int:
        events = [
            item.event(kind, item.written(), None, cause=cause, now=at(item), reply=reply)
            for item in items
        ]
        self.filter(pk__in=[item.pk for item in items]).delete()
        MemoryEvent.objects.record(events)
        return len(events)


class BinnedItem(Memory):
    """One item of a bin, in the state and with the surprise of the turn that it comes from.

    Its importance is that of its turn until a sleep settles it. Columns of a fixed width come
    first and vectors before texts, as a scan reads them.
    """

    at = models.DateTimeField(_("said at (study time)"))
    importance = models.FloatField(_("importance"))
    h_social = models.FloatField("h_social")
    h_energy = models.FloatField("h_energy")
    da = models.FloatField("da")
    ne = models.FloatField("ne")
    ht = models.FloatField("ht")
    rpe = models.FloatField(_("prediction error"))
    log_id = models.UUIDField(_("logged turn"))
    settled_at = models.DateTimeField(_("settled by sleep (study time)"), null=True)
    expires_at = models.DateTimeField(_("expires (study time)"), null=True)
    bin = models.CharField(_("bin"), max_length=8, choices=Bin.choices)
    embedder = models.CharField(_("embedder"), max_length=120)
    vector = VectorField()
    vector_in_context = VectorField(null=True)
    text = models.CharField(_("text"), max_length=ITEM_CHARACTERS)
    normalised = models.CharField(max_length=NORMALISED_CHARACTERS, editable=False)
    words = ArrayField(models.TextField(), default=list, editable=False)
    words_in_context = ArrayField(models.TextField(), default=list, editable=False)
    message_ids = message_ids_field()
    stage_key = stage_field()

    objects = TenantManager.from_queryset(BinnedItemQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("item of a bin")
        verbose_name_plural = _("items of the bins")
        ordering = ["at", "id"]
        indexes = [
            models.Index(fields=["lab", "participant", "bin"], name="binned_of_participant"),
            models.Index(fields=["lab", "log_id"], name="binned_of_turn"),
            models.Index(
                fields=["lab", "participant", "expires_at"],
                condition=models.Q(expires_at__isnull=False),
                name="binned_expiring",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(importance__gte=0, importance__lte=1),
                name="binned_importance_range",
            ),
            # A fact is permanent, whatever an arm's parameters say.
            models.CheckConstraint(
                condition=~models.Q(bin="fact") | models.Q(expires_at__isnull=True),
                name="a_fact_never_expires",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_bin_display()} · {self.text}"

    @property
    def state(self) -> State:
        return State(self.h_social, self.h_energy, self.da, self.ne, self.ht)

    def as_json(self) -> dict[str, Any]:
        """The item in the protocol's terms."""
        return {
            "id": str(self.pk),
            "category": str(self.bin),
            "content": self.text,
            "importance": self.importance,
            "timestamp": self.at.isoformat(),
            "stateSnapshot": state_json(self.state),
            "rpe": self.rpe,
            "embedding": [float(number) for number in self.vector],
        }

    def renew(self, again: BinnedItem, *, now: datetime, reply: UUID) -> MemoryEvent:
        """Take on the time, state and surprise of the turn that states it again; saves the row.

        Its importance never falls by that, and it keeps the messages that it came from before.
        """
        before = self.written()
        self.at, self.rpe, self.log_id = again.at, again.rpe, again.log_id
        for name, value in again.state._asdict().items():
            setattr(self, name, value)
        self.importance = max(self.importance, again.importance)
        self.settled_at = None
        self.message_ids = list(dict.fromkeys([*self.message_ids, *again.message_ids]))
        self.session_id, self.session_number = again.session_id, again.session_number
        self.stage_key = again.stage_key
        self.save(
            update_fields=[
                "at",
                "rpe",
                "log_id",
                *State._fields,
                "importance",
                "settled_at",
                "message_ids",
                "session_id",
                "session_number",
                "stage_key",
            ]
        )
        return self.event(
            EventKind.MENTIONED, before, self.written(), cause=Cause.MENTION, now=now, reply=reply
        )

    def settle(self, importance: float, *, run: UUID, now: datetime) -> MemoryEvent:
        """Take the importance that a sleep finds; ``BinnedItemQuerySet.settle`` saves the row."""
        before = self.standing()
        self.importance, self.settled_at = importance, now
        event = self.event(
            EventKind.SHIFTED, before, self.standing(), cause=Cause.SLEEP, now=now, reply=None
        )
        event.note = {"run": str(run)}
        return event

    def ingestion(self, *, now: datetime, reply: UUID) -> MemoryEvent:
        return self.event(
            EventKind.ENCODED, None, self.written(), cause=Cause.OBSERVATION, now=now, reply=reply
        )

    def refusal(self, *, now: datetime, reply: UUID) -> MemoryEvent:
        """That a full bin turned this item away; there is no row to have a state."""
        event = self.event(
            EventKind.REFUSED, None, None, cause=Cause.CAPACITY, now=now, reply=reply
        )
        event.note = {"bin": self.bin, "text": self.text}
        return event

    def standing(self) -> dict[str, Any]:
        """What sleep changes, as JSON."""
        return {
            "importance": self.importance,
            "settled_at": self.settled_at and self.settled_at.isoformat(),
        }

    def written(self) -> dict[str, Any]:
        """All of the row but its vectors and words, as JSON."""
        return self.standing() | {
            "bin": self.bin,
            "text": self.text,
            "at": self.at.isoformat(),
            **self.state._asdict(),
            "rpe": self.rpe,
            "log_id": str(self.log_id),
            "expires_at": self.expires_at and self.expires_at.isoformat(),
            "embedder": self.embedder,
            "message_ids": [str(message) for message in self.message_ids],
            "session_number": self.session_number,
            "stage_key": self.stage_key,
        }

    def event(
        self,
        kind: EventKind,
        before: dict[str, Any] | None,
        after: dict[str, Any] | None,
        *,
        cause: Cause,
        now: datetime,
        reply: UUID | None,
    ) -> MemoryEvent:
        return MemoryEvent(
            participant_id=self.participant_id,
            event=kind,
            memory_kind=MemoryKind.BINNED,
            memory_id=self.pk,
            before=before,
            after=after,
            cause=cause,
            session_id=self.session_id,
            reply_id=reply,
            study_at=now,
        )
