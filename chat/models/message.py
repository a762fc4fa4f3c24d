"""Messages: the ground truth of a conversation."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID, uuid5

from django.db import models
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from experiments.models import Session
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet
from memlab.core.values import Role, Utterance


def message_id(session: UUID, seq: int) -> UUID:
    """A message's public id follows from its place, so that a replay gets the same ones."""
    return uuid5(session, f"message {seq}")


class MessageInMaking(Protocol):
    """A message with what became of its reply, as ``with_making`` reads it.

    The three are None for what needs no making: a participant's message, an opening line.
    """

    seq: int
    role: str
    text: str
    at: datetime
    client_id: UUID | None
    reply_state: str | None
    reply_attempt: int | None
    reply_retryable: bool | None


#: What staff read for a message's author.
ROLES = {Role.PARTICIPANT.value: _("participant"), Role.ASSISTANT.value: _("assistant")}


class MessageQuerySet(TenantQuerySet["Message"]):
    def with_making(self) -> TenantQuerySet:
        """Messages with how their replies stand, at one moment: see ``MessageInMaking``."""
        return self.annotate(
            question_id=F("making__question_id"),
            reply_state=F("making__state"),
            reply_attempt=F("making__attempt"),
            reply_retryable=F("making__retryable"),
        )


class Message(TenantModel):
    """One message. An assistant's message without a ``Reply`` is an opening line.

    The assistant's row exists, empty, from the moment its question is stored; ``Reply`` says
    whether it is settled.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    session = models.ForeignKey(Session, models.PROTECT, related_name="messages")
    seq = models.PositiveIntegerField(_("number"))
    role = models.CharField(_("role"), max_length=12, choices=ROLES)
    text = models.TextField(_("text"))
    client_id = models.UUIDField(null=True, editable=False)
    at = models.DateTimeField(_("study time"))
    recorded_at = models.DateTimeField(_("wall time"))

    objects = TenantManager.from_queryset(MessageQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["session", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "session", "seq"], name="message_seq"),
            models.UniqueConstraint(
                fields=["lab", "session", "client_id"], name="message_client_id"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seq} · {self.get_role_display()}"

    def utterance(self) -> Utterance:
        return Utterance(id=self.id, role=Role(self.role), text=self.text, at=self.at)
