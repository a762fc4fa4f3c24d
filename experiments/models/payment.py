"""What a participant has earned, stage by stage, and what has become of it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import PaymentState
from experiments.models.participant import Participant
from experiments.models.session import Session
from experiments.models.study import Study
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


class PaymentQuerySet(TenantQuerySet["Payment"]):
    """Every change locks its rows first, so that two members of staff change each row once."""

    def earn(self, session: Session, *, now: datetime) -> Payment | None:
        """The payment for a stage, written once; None where the stage pays nothing.

        Called in the transaction that completes the session.
        """
        amount, participant = Decimal(session.stage.payment), session.participant
        if not amount:
            return None
        payment, _made = self.get_or_create(
            code=participant.code,
            stage_key=session.stage_key,
            defaults={
                "participant": participant,
                "study_id": participant.study_id,
                "test_mode": participant.test_mode,
                "amount": amount,
                "currency": session.version.configuration.currency,
                "earned_at": now,
            },
        )
        return payment

    def approve(self, *, user_id: int, wall: datetime) -> list[Payment]:
        """Approve what was earned or withheld; the rows that this call has changed."""
        return self._move(
            (PaymentState.EARNED, PaymentState.WITHHELD),
            state=PaymentState.APPROVED,
            reason="",
            decided_at=wall,
            decided_by_id=user_id,
        )

    def withhold(self, *, reason: str, user_id: int, wall: datetime) -> list[Payment]:
        """Withhold what isn't paid yet, with a reason that the ledger keeps."""
        return self._move(
            (PaymentState.EARNED, PaymentState.APPROVED),
            state=PaymentState.WITHHELD,
            reason=reason,
            decided_at=wall,
            decided_by_id=user_id,
        )

    def mark_paid(self, *, user_id: int, wall: datetime) -> list[Payment]:
        """Mark as paid what was approved. What is paid never changes again."""
        return self._move(
            (PaymentState.APPROVED,),
            state=PaymentState.PAID,
            paid_at=wall,
            paid_by_id=user_id,
        )

    def detach(self) -> None:
        """Nothing leads from here to the person any more, who is erased or anonymised. What isn't
        paid yet keeps the code, so that it can be; what is paid gets one that nobody knows. Why it
        was withheld goes: staff wrote that in their own words."""
        for payment in self.order_by("pk").select_for_update():
            payment.participant, payment.reason = None, ""
            if payment.state == PaymentState.PAID:
                payment.code = Participant._meta.get_field("code").get_default()
            payment.save(update_fields=["participant", "code", "reason"])

    def _move(self, states: tuple[PaymentState, ...], **fields: Any) -> list[Payment]:
        """Test runs earn, so that they show what participants see, but are never paid."""
        rows = list(
            Payment.objects.filter(pk__in=self.values("pk"), state__in=states, test_mode=False)
            .order_by("pk")
            .select_for_update()
        )
        Payment.objects.filter(pk__in=[row.pk for row in rows]).update(**fields)
        return rows


class Payment(TenantModel):
    """One stage's payment to one participant.

    ``code`` is copied, and with the stage it identifies the row: nobody is paid twice. Erasing a
    participant leaves the row behind with the code alone (``participant`` becomes null), so that
    what was earned can still be paid to whoever shows the code.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="+", verbose_name=_("study"))
    participant = models.ForeignKey(
        Participant,
        models.SET_NULL,
        null=True,
        related_name="payments",
        verbose_name=_("participant"),
    )
    code = models.CharField(_("code"), max_length=12)
    stage_key = models.CharField(_("stage"), max_length=20)
    test_mode = models.BooleanField(_("test run"), default=False)
    amount = models.DecimalField(_("amount"), max_digits=8, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3, blank=True)
    state = models.CharField(
        _("state"), max_length=8, choices=PaymentState.choices, default=PaymentState.EARNED
    )
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    earned_at = models.DateTimeField(_("earned (study time)"))
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)
    decided_at = models.DateTimeField(_("approved or withheld at"), null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("approved or withheld by"),
    )
    paid_at = models.DateTimeField(_("paid at"), null=True)
    paid_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("paid by"),
    )

    objects = TenantManager.from_queryset(PaymentQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("payment")
        verbose_name_plural = _("payments")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "code", "stage_key"], name="one_payment_a_stage"
            ),
            models.CheckConstraint(
                condition=models.Q(amount__gt=0), name="payment_is_more_than_nothing"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} · {self.stage_key} · {self.amount} {self.currency}".strip()
