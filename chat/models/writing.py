"""How a message was written: never what, and only of participants who have agreed to it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.message import Message
from memlab.core.tenancy.models import TenantModel


class Writing(TenantModel):
    """What the chat page measured between two messages of a participant.

    Voluntary and sent beside the conversation, so a message may lack one. Times are the browser's.
    """

    message = models.ForeignKey(
        Message, models.PROTECT, related_name="writings", verbose_name=_("message")
    )
    typing_ms = models.PositiveIntegerField(
        _("time typing, ms"), help_text=_("Pauses of more than two seconds are left out.")
    )
    pastes = models.PositiveSmallIntegerField(_("times pasted"))
    pasted_characters = models.PositiveIntegerField(_("characters pasted"))
    departures = models.PositiveSmallIntegerField(_("times away from the page"))
    away_ms = models.PositiveIntegerField(_("time away from the page, ms"))
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("writing of a message")
        verbose_name_plural = _("writing of messages")
        ordering = ["message"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "message"], name="one_writing_a_message")
        ]

    def __str__(self) -> str:
        return f"{self.typing_ms} ms"
