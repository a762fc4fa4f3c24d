"""The making of a reply: pending until it is done or failed, by one attempt at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.message import Message
from experiments.models import Session
from memlab.core.due import Due, DueKind
from memlab.core.llm.base import FailureKind
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

LEASE = timedelta(seconds=15)
MAX_ATTEMPTS = 5
# How long a reply rests whose making ended by a fault of ours, doubled with each.
FIRST_REST = timedelta(seconds=1)


class ReplyState(models.TextChoices):
    PENDING = "pending", _("pending")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


class ReplyQuerySet(TenantQuerySet["Reply"]):
    def pending(self) -> TenantQuerySet:
        """Unsettled replies in the order of their questions."""
        return self.filter(state=ReplyState.PENDING).order_by("message__seq")

    def bearing_on(self, session: Session, client_id: UUID) -> TenantQuerySet:
        """What the session's next message has to know of its replies: those that are pending, or
        failed and may still be retried, and the one to a message that was stored under the same
        ``client_id``. With their questions, in one statement."""
        unsettled = models.Q(state=ReplyState.PENDING) | models.Q(retryable=True)
        stored = models.Q(question__client_id=client_id)
        return self.select_related("question").filter(unsettled | stored, session=session)


class Reply(TenantModel):
    """Who makes a reply, since when, and what became of it.

    ``attempt`` fences: whoever lost the lease holds an older number and writes nothing. It stands
    on every token, reply and failed frame, so a client drops what a dead attempt still sends.
    """

    id = models.UUIDField(primary_key=True, editable=False)  # the id of its message
    session = models.ForeignKey(Session, models.PROTECT, related_name="replies")
    message = models.ForeignKey(Message, models.PROTECT, related_name="making")
    question = models.ForeignKey(Message, models.PROTECT, related_name="answers")
    state = models.CharField(
        _("state"), max_length=8, choices=ReplyState, default=ReplyState.PENDING
    )
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    deaths = models.PositiveIntegerField(
        default=0, editable=False, help_text="Attempts that ended with their process."
    )
    lease_until = models.DateTimeField(null=True, editable=False)
    failure = models.CharField(_("failure"), max_length=32, blank=True)
    failure_detail = models.CharField(_("failure detail"), max_length=300, blank=True)
    retryable = models.BooleanField(_("can be retried"), default=False)
    partial = models.TextField(_("partial text"), blank=True)

    objects = TenantManager.from_queryset(ReplyQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("reply")
        verbose_name_plural = _("replies")
        constraints = [
            models.UniqueConstraint(fields=["lab", "message"], name="one_reply_a_message"),
            models.UniqueConstraint(fields=["lab", "question"], name="one_reply_a_question"),
        ]
        indexes = [
            models.Index(
                fields=["session"], condition=models.Q(state="pending"), name="pending_replies"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_state_display()} · {self.attempt}"

    def leased(self, wall: datetime) -> bool:
        return self.lease_until is not None and self.lease_until > wall

    def take(self, *, wall: datetime) -> int:
        """Start a new attempt, which fences every older one and holds the lease for LEASE; returns
        its number. When the lease runs out, somebody comes back to it."""
        self.deaths += self.died()
        self.hold(wall=wall)
        self.save(update_fields=["attempt", "deaths", "lease_until"])
        self.plan(wall=wall + LEASE)
        return self.attempt

    def hold(self, *, wall: datetime) -> None:
        """Start an attempt on this (unsaved) row: whoever stores a reply may begin it at once."""
        self.attempt += 1
        self.lease_until = wall + LEASE

    def died(self) -> bool:
        """Whether the last attempt neither settled the reply nor gave it back."""
        return self.lease_until is not None

    def plan(self, *, wall: datetime) -> None:
        Due.objects.plan(
            lab_id=self.lab_id, kind=DueKind.REPLY, subject=self.id, study_at=None, wall_at=wall
        )

    def succeed(self) -> None:
        self._settle(state=ReplyState.DONE, partial="", failure="", failure_detail="")

    def fail(self, kind: FailureKind | str, *, detail: str, partial: str, retryable: bool) -> None:
        """Keep what came of a failed attempt apart from the transcript."""
        self._settle(
            state=ReplyState.FAILED,
            failure=str(kind),
            failure_detail=detail[:300],
            partial=partial,
            retryable=retryable,
        )

    def give_back(self, *, wall: datetime) -> bool:
        """An attempt ends by a fault of ours, which counts as a death: whether another follows."""
        self.deaths += 1
        self.lease_until = None
        self.save(update_fields=["deaths", "lease_until"])
        if self.deaths >= MAX_ATTEMPTS:
            return False
        self.plan(wall=wall + FIRST_REST * 2 ** (self.deaths - 1))
        return True

    def withdraw(self) -> None:
        """The participant has withdrawn: whoever is making it holds an older attempt from now on,
        and nothing of it is kept."""
        self.attempt += 1
        self.save(update_fields=["attempt"])
        self.fail("withdrawn", detail="", partial="", retryable=False)

    def abandon(self) -> None:
        """Every attempt came to nothing by death: no other is made."""
        self.fail("abandoned", detail="every attempt died", partial="", retryable=False)

    def reopen(self, *, wall: datetime) -> None:
        """The participant asked to try again."""
        self.state, self.retryable, self.deaths = ReplyState.PENDING, False, 0
        self.save(update_fields=["state", "retryable", "deaths"])
        self.plan(wall=wall + LEASE)

    def give_up(self) -> None:
        """No Retry any more: a newer message or the session's end closed it."""
        self.retryable = False
        self.save(update_fields=["retryable"])

    def _settle(self, **fields: Any) -> None:
        self.lease_until = None
        for name, value in fields.items():
            setattr(self, name, value)
        self.save(update_fields=["lease_until", *fields])
        Due.objects.settle(lab_id=self.lab_id, kind=DueKind.REPLY, subject=self.id)
