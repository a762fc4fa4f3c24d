"""The diary of an agent: one line about each session, for as long as logs are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memory.enums import EventKind, MemoryKind
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.belief import Change
from memory.models.event import MemoryEvent

#: The longest line that any study may allow.
LOG_CHARACTERS = 500


def log_id(*, participant: UUID, session: UUID) -> UUID:
    """A session has one line."""
    return uuid5(participant, f"log:{session}")


class SessionLogQuerySet(TenantQuerySet["SessionLog"]):
    def of_participant(self, participant_id: int) -> SessionLogQuerySet:
        """A participant's lines, oldest session first."""
        return self.filter(participant_id=participant_id).order_by("at", "pk")

    def write(self, log: SessionLog, change: Change) -> int:
        """Store a session's line with its event; 0 if it has one already."""
        if self.filter(pk=log.pk).exists():
            return 0
        log.save(force_insert=True)
        MemoryEvent.objects.record([log.event(EventKind.ENCODED, change, after=log.state())])
        return 1

    def expire(self, participant_id: int, *, before: datetime, change: Change) -> int:
        """Drop the lines of sessions that ended before a moment of study time; how many went."""
        old = self.filter(participant_id=participant_id, at__lt=before)
        gone = list(old.order_by("pk").select_for_update())
        MemoryEvent.objects.record(
            log.event(EventKind.EXPIRED, change, before=log.state()) for log in gone
        )
        self.filter(pk__in=[log.pk for log in gone]).delete()
        return len(gone)


class SessionLog(Memory):
    """What one session was about, in a line, with the messages that the line rests on."""

    stage_key = stage_field()
    text = models.CharField(_("text"), max_length=LOG_CHARACTERS)
    message_ids = message_ids_field()
    at = models.DateTimeField(_("session ended (study time)"))

    objects = TenantManager.from_queryset(SessionLogQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("session log")
        verbose_name_plural = _("session logs")
        ordering = ["at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "session_id"], name="a_session_has_one_log"
            )
        ]

    def __str__(self) -> str:
        return self.text

    def state(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            "text": self.text,
            "message_ids": [str(message) for message in self.message_ids],
            "stage_key": self.stage_key,
            "session_number": self.session_number,
            "at": self.at.isoformat(),
        }

    def event(
        self,
        kind: EventKind,
        change: Change,
        *,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> MemoryEvent:
        return MemoryEvent(
            participant_id=self.participant_id,
            event=kind,
            memory_kind=MemoryKind.LOG,
            memory_id=self.pk,
            before=before,
            after=after,
            note=dict(change.note),
            cause=change.cause,
            session_id=change.session,
            reply_id=change.reply,
            study_at=change.now,
        )
