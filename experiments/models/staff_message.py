"""Messages between a participant and the staff, outside of the study's conversations."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.models.participant import Participant
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

MESSAGE_CHARACTERS = 2000


class StaffMessageQuerySet(TenantQuerySet["StaffMessage"]):
    def post(
        self, participant: Participant, text: str, *, client_id: UUID, user_id: int | None = None
    ) -> tuple[StaffMessage, bool]:
        """Keep a message, of staff where ``user_id`` says who, and say whether it is new: a form
        that is sent twice, under the same ``client_id``, is one message. Raises ValidationError if
        it is empty or too long, Participant.DoesNotExist if nobody is to be found by it any more.
        """
        text = text.replace("\r\n", "\n").strip()
        if not text:
            raise ValidationError(_now("Please write something first."))
        ProhibitNullCharactersValidator()(text)
        if len(text) > MESSAGE_CHARACTERS:
            raise ValidationError(
                _now("At most %(limit)s characters; this has %(length)s.")
                % {"limit": MESSAGE_CHARACTERS, "length": len(text)}
            )
        row, made = self.get_or_create(
            participant=participant.hold(),
            client_id=client_id,
            defaults={"text": text, "author_id": user_id, "from_staff": user_id is not None},
        )
        return row, made

    def unread(self, *, from_staff: bool) -> TenantQuerySet[StaffMessage]:
        """What one side has written and the other hasn't opened."""
        return self.filter(from_staff=from_staff, read_at=None)

    def mark_read(self, participant: Participant, *, from_staff: bool, wall: datetime) -> None:
        self.unread(from_staff=from_staff).filter(participant=participant).update(read_at=wall)


class StaffMessage(TenantModel):
    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="staff_messages", verbose_name=_("participant")
    )
    from_staff = models.BooleanField(_("from staff"))
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("author"),
    )
    client_id = models.UUIDField(editable=False)
    text = models.TextField(_("text"), max_length=MESSAGE_CHARACTERS)
    sent_at = models.DateTimeField(_("sent at"), auto_now_add=True)
    read_at = models.DateTimeField(_("read at"), null=True)

    objects = TenantManager.from_queryset(StaffMessageQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("message to or from staff")
        verbose_name_plural = _("messages to and from staff")
        ordering = ["sent_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "client_id"], name="one_staff_message_a_form"
            )
        ]

    def __str__(self) -> str:
        return f"{self.participant} · {self.sent_at:%Y-%m-%d %H:%M}"
