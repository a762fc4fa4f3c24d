"""Completion codes: what a recruiter wants to be told, and to whom it was shown."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.enums import Outcome
from experiments.models.participant import Participant
from experiments.models.stage import Stage
from experiments.models.study import Study
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

PLACE_OF_CODE = "{code}"


class CompletionCode(TenantModel):
    """The code of one outcome, of the whole study or of a stage that is a recruiter's own study."""

    study = models.ForeignKey(
        Study, models.CASCADE, related_name="completion_codes", verbose_name=_("study")
    )
    stage = models.ForeignKey(
        Stage,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="completion_codes",
        verbose_name=_("stage"),
        help_text=_("Where a stage is a recruiter's study of its own; empty: the whole study."),
    )
    outcome = models.CharField(_("outcome"), max_length=12, choices=Outcome.choices)
    code = models.CharField(_("completion code"), max_length=64)
    return_url = models.CharField(
        _("return address"),
        max_length=500,
        blank=True,
        help_text=_("Where the participant goes back to; {code} stands for the code."),
    )

    class Meta(TenantModel.Meta):
        verbose_name = _("completion code")
        verbose_name_plural = _("completion codes")
        ordering = ["study", "stage__number", "outcome"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "study", "stage", "outcome"],
                name="one_code_an_outcome",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        where = "" if self.stage is None else f"{self.stage.key} · "
        return f"{where}{self.get_outcome_display()}"

    def clean(self) -> None:
        if self.return_url:
            parts = urlsplit(self.return_url)
            if parts.scheme not in ("http", "https") or not parts.netloc:
                raise ValidationError(
                    {"return_url": _now("A whole address, beginning with https://.")}
                )
        if self.stage is not None and self.stage.study_id != self.study_id:
            raise ValidationError({"stage": _now("A stage of this study.")})

    def address(self) -> str:
        """Where the participant goes back to, with the code in its place; empty for nowhere."""
        return self.return_url.replace(PLACE_OF_CODE, quote(self.code, safe=""))


class IssuedCodeQuerySet(TenantQuerySet["IssuedCode"]):
    def give(
        self, participant: Participant, outcome: Outcome, *, stage_key: str = "", user_id: int
    ) -> IssuedCode:
        """Let a participant have a code by hand. Safe to repeat."""
        row, _made = self.get_or_create(
            **_place(participant, outcome, stage_key), defaults={"given_by_id": user_id}
        )
        return row

    def shown(
        self,
        participant: Participant,
        outcome: Outcome,
        *,
        stage_key: str = "",
        code: str,
        wall: datetime,
    ) -> IssuedCode:
        """Record that the code is being shown; what was recorded first stays."""
        row, _made = self.get_or_create(**_place(participant, outcome, stage_key))
        if row.shown_at is None:
            row.code, row.shown_at = code, wall
            row.save(update_fields=["code", "shown_at"])
        return row


def _place(participant: Participant, outcome: Outcome, stage_key: str) -> dict[str, Any]:
    return {"participant": participant, "outcome": outcome, "stage_key": stage_key}


class IssuedCode(TenantModel):
    """A code that a participant was shown, or that staff gave and is still to be shown."""

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="issued_codes", verbose_name=_("participant")
    )
    stage_key = models.CharField(_("stage"), max_length=20, blank=True)
    outcome = models.CharField(_("outcome"), max_length=12, choices=Outcome.choices)
    code = models.CharField(_("completion code"), max_length=64, blank=True)
    given_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("given by"),
    )
    issued_at = models.DateTimeField(_("issued at"), auto_now_add=True)
    shown_at = models.DateTimeField(_("first shown at"), null=True)

    objects = TenantManager.from_queryset(IssuedCodeQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("issued code")
        verbose_name_plural = _("issued codes")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "stage_key", "outcome"], name="a_code_is_issued_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.participant} · {self.get_outcome_display()}"
