"""That somebody withdrew, how far, and what has become of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.enums import WithdrawalKind, WithdrawalState, WithdrawnBy
from experiments.models.participant import Participant
from experiments.participant_codes import new_code
from memlab.core.due import Due, DueKind
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

REASON_CHARACTERS = 500
#: From the least to the most: who has gone so far can only go further.
ORDER = tuple(WithdrawalKind)
#: Kinds after which the person gets a receipt, and which are done again after a restore.
REMOVING = (WithdrawalKind.ANONYMISE, WithdrawalKind.ERASE)


def new_receipt_code() -> str:
    """What the person keeps as a proof: read out or typed in, 16 characters in groups of four."""
    return "-".join(new_code(4) for _group in range(4))


def receipt_hash(code: str) -> str:
    """The SHA-256 by which a receipt is found, however its code was typed."""
    plain = "".join(code.split()).replace("-", "").upper()
    return hashlib.sha256(plain.encode()).hexdigest()


def checked_reason(given: str) -> str:
    """A reason as it is kept. Raises ValidationError if it is too long, or can't be stored."""
    reason = given.strip()
    if len(reason) > REASON_CHARACTERS:
        raise ValidationError(
            _now("At most %(limit)s characters; this has %(length)s.")
            % {"limit": REASON_CHARACTERS, "length": len(reason)}
        )
    ProhibitNullCharactersValidator()(reason)
    return reason


class WithdrawalQuerySet(TenantQuerySet["Withdrawal"]):
    def request(
        self,
        participant: Participant,
        kind: WithdrawalKind,
        *,
        by: WithdrawnBy,
        wall: datetime,
        user_id: int | None = None,
        reason: str = "",
        code_hash: str = "",
    ) -> Withdrawal:
        """Keep the wish and plan that it is carried out; the same wish again is the same row.

        The caller holds the participant's row lock, and has stopped what was under way. Raises
        ValidationError for a reason that is none, or for less than was asked for before.
        """
        reason = checked_reason(reason)
        if kind not in kinds_left(participant) and not self.filter(
            participant=participant, kind=kind
        ):
            raise ValidationError(_now("This participant has withdrawn further than that already."))
        withdrawal, _made = self.get_or_create(
            participant=participant,
            kind=kind,
            defaults={
                "requested_by": by,
                "user_id": user_id,
                "reason": reason,
                "requested_at": participant.study_time(wall),
                "requested_wall": wall,
                "code_hash": code_hash,
            },
        )
        if withdrawal.state == WithdrawalState.REQUESTED:
            withdrawal.plan(wall=wall)
        return withdrawal

    def anonymised_under(self, participant: Participant) -> str:
        """The hash of the receipt under which the participant has lost an earlier id; empty if they
        never did."""
        rows = self.filter(
            participant=participant,
            kind=WithdrawalKind.ANONYMISE,
            state=WithdrawalState.CARRIED_OUT,
        )
        return rows.values_list("code_hash", flat=True).first() or ""

    def reopen(self, *, code_hash: str) -> int:
        """Have it carried out anew, under the receipt that there is."""
        return self.update(state=WithdrawalState.REQUESTED, code_hash=code_hash)

    def hand_to_shell(self, shell: Participant) -> int:
        """What is counted of an erased participant: that they withdrew, how far, on whose word."""
        day = shell.entered_at
        return self.update(
            participant=shell, reason="", code_hash="", requested_at=day, requested_wall=day
        )


def kinds_left(participant: Participant) -> list[WithdrawalKind]:
    """The kinds that go further than what a participant has asked for so far."""
    asked = Withdrawal.objects.filter(participant=participant).values_list("kind", flat=True)
    furthest = max((ORDER.index(WithdrawalKind(kind)) for kind in asked), default=-1)
    return list(ORDER[furthest + 1 :])


class Withdrawal(TenantModel):
    """One wish to withdraw.

    What must stop has stopped in the transaction that made this row; the task of its due row does
    the rest. ``parts`` are counts by table, never content. ``code_hash`` finds the receipt.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="withdrawals", verbose_name=_("participant")
    )
    kind = models.CharField(_("kind"), max_length=12, choices=WithdrawalKind.choices)
    requested_by = models.CharField(_("asked for by"), max_length=12, choices=WithdrawnBy.choices)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("member of staff"),
    )
    reason = models.CharField(_("reason"), max_length=REASON_CHARACTERS, blank=True)
    requested_at = models.DateTimeField(_("asked for (study time)"))
    requested_wall = models.DateTimeField(_("asked for (wall time)"))
    code_hash = models.CharField(max_length=64, blank=True, editable=False)
    state = models.CharField(
        _("state"),
        max_length=12,
        choices=WithdrawalState.choices,
        default=WithdrawalState.REQUESTED,
    )
    parts = models.JSONField(_("rows, by table"), default=dict)
    carried_out_at = models.DateTimeField(_("carried out (wall time)"), null=True)

    objects = TenantManager.from_queryset(WithdrawalQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("withdrawal")
        verbose_name_plural = _("withdrawals")
        ordering = ["-requested_wall"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "kind"], name="one_withdrawal_of_a_kind"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.get_state_display()}"

    def plan(self, *, wall: datetime) -> None:
        Due.objects.plan(
            lab_id=self.lab_id,
            kind=DueKind.WITHDRAWAL,
            subject=self.pk,
            study_at=None,
            wall_at=wall,
        )

    def carried_out(self, *, parts: Mapping[str, int], wall: datetime) -> None:
        """Call it in the transaction that did it, which makes it happen once."""
        self.state, self.parts, self.carried_out_at = (
            WithdrawalState.CARRIED_OUT,
            dict(parts),
            wall,
        )
        self.save(update_fields=["state", "parts", "carried_out_at"])
        Due.objects.settle(lab_id=self.lab_id, kind=DueKind.WITHDRAWAL, subject=self.pk)


class ErasureReceipt(TenantModel):
    """That somebody's data were removed, without saying whose.

    Whoever holds the code can show that it was they (``receipt_hash``). ``sha256`` is of the list
    of rows that went, by table and id; the same line stands in the log outside of the database.
    """

    kind = models.CharField(_("kind"), max_length=12, choices=WithdrawalKind.choices)
    code_hash = models.CharField(_("SHA-256 of the code"), max_length=64)
    at = models.DateTimeField(_("at"))
    counts = models.JSONField(_("rows, by table"), default=dict)
    sha256 = models.CharField("SHA-256", max_length=64)

    class Meta(TenantModel.Meta):
        verbose_name = _("receipt of an erasure")
        verbose_name_plural = _("receipts of erasures")
        ordering = ["-at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "code_hash"], name="one_receipt_an_erasure")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.at:%Y-%m-%d}"
