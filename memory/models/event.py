"""The log of every change to a memory. Rows are added, never altered; see ``AppendOnly``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet
from memory.enums import Cause, EventKind, MemoryKind


class MemoryEventQuerySet(TenantQuerySet["MemoryEvent"]):
    def of_memory(self, memory_id: UUID) -> MemoryEventQuerySet:
        """One memory's history, oldest first."""
        return self.filter(memory_id=memory_id).order_by("pk")

    def strengthened_by(self, reply: UUID) -> bool:
        """Whether a reply's recall has been committed already."""
        return self.filter(reply_id=reply, event=EventKind.RECALLED).exists()

    def record(self, events: Iterable[MemoryEvent]) -> None:
        """Append events in one statement."""
        self.bulk_create(events)


class MemoryEvent(TenantModel):
    """One change of one memory: its state before and after, and what caused it.

    Laying the ``after`` of a memory's events over each other in order gives its present state
    (but for the vector, which is too large to log and never changes).
    """

    public_id = models.UUIDField(default=uuid4, editable=False)
    participant = models.ForeignKey(
        "experiments.Participant",
        models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("participant"),
    )
    event = models.CharField(_("event"), max_length=20, choices=EventKind.choices)
    memory_kind = models.CharField(_("kind of memory"), max_length=20, choices=MemoryKind.choices)
    memory_id = models.UUIDField(_("memory"))
    before = models.JSONField(_("before"), null=True)
    after = models.JSONField(_("after"), null=True)
    cause = models.CharField(_("cause"), max_length=20, choices=Cause.choices)
    note = models.JSONField(
        _("note"), default=dict, help_text=_("What led to it; no part of the memory's state.")
    )
    session_id = models.UUIDField(_("session"), null=True)
    reply_id = models.UUIDField(_("reply"), null=True)
    study_at = models.DateTimeField(_("at (study time)"))
    wall_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(MemoryEventQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("memory event")
        verbose_name_plural = _("memory events")
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["lab", "participant", "id"], name="event_of_participant"),
            models.Index(fields=["lab", "memory_id", "id"], name="event_of_memory"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["lab", "public_id"], name="memory_event_public_id"),
            # However often a reply is committed, it strengthens a memory once.
            models.UniqueConstraint(
                fields=["lab", "reply_id", "memory_id", "event"],
                condition=models.Q(reply_id__isnull=False),
                name="a_reply_changes_a_memory_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_memory_kind_display()} · {self.get_event_display()} · {self.memory_id}"

    def as_json(self) -> dict[str, Any]:
        """As it is exported; times are ISO 8601, in study time but for ``recorded_at``."""
        return {
            "id": str(self.public_id),
            "at": self.study_at.isoformat(),
            "recorded_at": self.wall_at.isoformat(),
            "event": self.event,
            "kind": self.memory_kind,
            "memory": str(self.memory_id),
            "cause": self.cause,
            "before": self.before,
            "after": self.after,
            "note": self.note,
            "session": None if self.session_id is None else str(self.session_id),
            "reply": None if self.reply_id is None else str(self.reply_id),
        }
