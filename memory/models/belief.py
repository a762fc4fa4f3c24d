"""Beliefs: what an agent holds true about a participant, and how sure it is of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memory.enums import Cause, EventKind, MemoryKind
from memory.formulas import confidence as formulas
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.event import MemoryEvent

#: The longest content that any study may allow.
CONTENT_CHARACTERS = 500
CATEGORY_CHARACTERS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What brings changes about, for their events; ``now`` is study time."""

    cause: Cause
    now: datetime
    session: UUID | None = None
    reply: UUID | None = None
    note: Mapping[str, Any] = field(default_factory=dict)


def belief_id(*, participant: UUID, source: UUID, position: int) -> UUID:
    """The id of what the call at ``position`` of one reply (``source``) saved."""
    return uuid5(participant, f"belief:{source}:{position}")


class BeliefQuerySet(TenantQuerySet["Belief"]):
    def of_participant(self, participant_id: int) -> BeliefQuerySet:
        """A participant's beliefs in the order in which they were formed."""
        return self.filter(participant_id=participant_id).order_by("formed_at", "position")

    def locked(self, ids: Collection[UUID], *, participant_id: int) -> dict[UUID, Belief]:
        """Those of a participant's beliefs that still exist, with their row locks, by id."""
        rows = self.filter(pk__in=ids, participant_id=participant_id)
        return {row.pk: row for row in rows.order_by("pk").select_for_update()}

    def form(self, beliefs: Iterable[Belief], change: Change) -> int:
        """Store new beliefs with an event each; how many. One that exists stays as it is."""
        offered = {belief.pk: belief for belief in beliefs}
        known = set(self.filter(pk__in=offered).values_list("pk", flat=True))
        new = [belief for key, belief in offered.items() if key not in known]
        self.bulk_create(new)
        MemoryEvent.objects.record(
            belief.event(EventKind.ENCODED, change, before=None, after=belief.state())
            for belief in new
        )
        return len(new)

    def evict(self, participant_id: int, *, keep: int, change: Change) -> int:
        """Let each category keep ``keep`` beliefs; how many went. The least sure go first, of
        those the least looked for, of those the longest unchanged."""
        rows = self.filter(participant_id=participant_id).order_by("pk").select_for_update()
        categories: dict[str, list[Belief]] = defaultdict(list)
        for row in rows:
            categories[row.category].append(row)
        gone = 0
        for beliefs in categories.values():
            beliefs.sort(key=Belief.worth)
            for belief in beliefs[: max(0, len(beliefs) - keep)]:
                belief.leave(EventKind.EVICTED, change)
                gone += 1
        return gone


class Belief(Memory):
    """One thing believed about a participant. It changes only here, and each change is an event.

    ``version`` counts the changes: what was decided about an older version isn't applied to a
    newer one. Sessions may be unknown (null) for a turn that was observed on its own.
    """

    #: What a change may change, and what an event therefore holds.
    STATE = (
        "content",
        "category",
        "factual",
        "confidence",
        "mentions",
        "accesses",
        "message_ids",
        "changed_at",
        "version",
    )
    #: Whether this instance's row has been deleted.
    gone = False

    session_id = models.UUIDField(_("session"), null=True)  # type: ignore[assignment]
    session_number = models.PositiveSmallIntegerField(  # type: ignore[assignment]
        _("session number"), null=True
    )
    stage_key = stage_field()
    content = models.CharField(_("content"), max_length=CONTENT_CHARACTERS)
    category = models.CharField(_("category"), max_length=CATEGORY_CHARACTERS)
    factual = models.BooleanField(
        _("factual"), help_text=_("A fact is corrected at once; a liking is doubted step by step.")
    )
    confidence = models.FloatField(_("confidence"), default=1.0)
    mentions = models.PositiveIntegerField(_("mentions"), default=1)
    accesses = models.PositiveIntegerField(_("accesses"), default=0)
    message_ids = message_ids_field()
    formed_at = models.DateTimeField(_("said at (study time)"))
    position = models.PositiveSmallIntegerField(
        _("position"), help_text=_("Among the calls of the turn that formed it.")
    )
    changed_at = models.DateTimeField(_("last changed (study time)"))
    version = models.PositiveIntegerField(_("version"), default=1)

    objects = TenantManager.from_queryset(BeliefQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("belief")
        verbose_name_plural = _("beliefs")
        ordering = ["formed_at", "position", "id"]
        indexes = [models.Index(fields=["lab", "participant"], name="belief_of_participant")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(confidence__gt=0, confidence__lte=1),
                name="belief_confidence_range",
            )
        ]

    def __str__(self) -> str:
        return self.content

    def weaken(self, change: Change, *, drop: float = 0.25) -> None:
        """Doubt it by one step; at 0 it is forgotten."""
        left = formulas.weakened(confidence=self.confidence, drop=drop)
        if left > 0:
            self._change(EventKind.WEAKENED, change, confidence=left)
            return
        # No row holds a confidence of 0: its last event does, and it goes.
        before = {"confidence": self.confidence, "version": self.version}
        self.confidence, self.version = 0.0, self.version + 1
        after = {"confidence": self.confidence, "version": self.version}
        MemoryEvent.objects.record(
            [self.event(EventKind.WEAKENED, change, before=before, after=after)]
        )
        self.leave(EventKind.FORGOTTEN, change)

    def reinforce(
        self, change: Change, *, boost: float = 0.2, message_ids: Iterable[UUID] = ()
    ) -> None:
        """It was said again: a mention more, and surer, if it isn't certain already."""
        surer = formulas.reinforced(confidence=self.confidence, factual=self.factual, boost=boost)
        self._change(
            EventKind.REINFORCED if surer > self.confidence else EventKind.MENTIONED,
            change,
            confidence=surer,
            mentions=self.mentions + 1,
            message_ids=self._with(message_ids),
        )

    def access(self, change: Change) -> None:
        """It was looked for and found."""
        self._change(EventKind.RECALLED, change, accesses=self.accesses + 1)

    def update(self, change: Change, *, content: str, message_ids: Iterable[UUID] = ()) -> None:
        """Correct it: what is said now is trusted as if it were said first."""
        self._change(
            EventKind.UPDATED,
            change,
            content=content,
            confidence=1.0,
            message_ids=self._with(message_ids),
        )

    def forget(self, change: Change) -> None:
        """Let it go as wrong."""
        self.leave(EventKind.FORGOTTEN, change)

    def leave(self, event: EventKind, change: Change) -> None:
        """Delete the row; its last state stays in the event."""
        MemoryEvent.objects.record([self.event(event, change, before=self.state(), after=None)])
        Belief.objects.filter(pk=self.pk).delete()
        self.gone = True

    def worth(self) -> tuple[float, int, datetime, str]:
        """What an eviction compares; the least goes first."""
        return self.confidence, self.accesses, self.changed_at, str(self.pk)

    def band(self, *, confirm: float = 0.6, show: float = 0.3) -> formulas.Band:
        return formulas.band(confidence=self.confidence, confirm=confirm, show=show)

    def state(self) -> dict[str, Any]:
        """Everything that a change may change, as JSON."""
        return {name: _as_json(getattr(self, name)) for name in self.STATE}

    def event(
        self,
        kind: EventKind,
        change: Change,
        *,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
    ) -> MemoryEvent:
        return MemoryEvent(
            participant_id=self.participant_id,
            event=kind,
            memory_kind=MemoryKind.BELIEF,
            memory_id=self.pk,
            before=before,
            after=after,
            note=dict(change.note),
            cause=change.cause,
            session_id=change.session,
            reply_id=change.reply,
            study_at=change.now,
        )

    def _with(self, message_ids: Iterable[UUID]) -> list[UUID]:
        return list(dict.fromkeys([*self.message_ids, *message_ids]))

    def _change(self, event: EventKind, change: Change, **values: Any) -> None:
        """Set what differs, save it and write the event of it."""
        values = {name: value for name, value in values.items() if value != getattr(self, name)}
        values |= {"changed_at": change.now, "version": self.version + 1}
        before = {name: _as_json(getattr(self, name)) for name in values}
        for name, value in values.items():
            setattr(self, name, value)
        self.save(update_fields=list(values))
        after = {name: _as_json(value) for name, value in values.items()}
        MemoryEvent.objects.record([self.event(event, change, before=before, after=after)])


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list):
        return [str(each) for each in value]
    return value
