"""The frozen versions that participants run under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.configuration import StudyConfiguration
from experiments.models.study import Study
from memlab.core.tenancy.models import TenantModel


class StudyVersion(TenantModel):
    """A study's configuration, frozen and hashed. Never edited, never deleted."""

    study = models.ForeignKey(
        Study, models.PROTECT, related_name="versions", verbose_name=_("study")
    )
    number = models.PositiveIntegerField(_("number"))
    sha256 = models.CharField("SHA-256", max_length=64)
    configuration_json = models.JSONField(_("configuration"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    opened_at = models.DateTimeField(_("opened at"), null=True)
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("opened by"),
    )
    amended_from = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="+", verbose_name=_("amends")
    )
    reason = models.TextField(_("reason"), blank=True, help_text=_("For the amendment."))
    overrides = models.JSONField(
        _("overrides"),
        default=list,
        blank=True,
        help_text=_("Launch checks that failed when it was opened, and why that was accepted."),
    )

    class Meta(TenantModel.Meta):
        verbose_name = _("study version")
        verbose_name_plural = _("study versions")
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "study", "sha256"], name="version_content"),
            models.UniqueConstraint(fields=["lab", "study", "number"], name="version_number"),
        ]

    def __str__(self) -> str:
        return f"{self.study_id} v{self.number} {self.sha256[:8]}"

    def mark_opened(
        self,
        *,
        at: datetime,
        user_id: int | None,
        reason: str,
        overrides: Sequence[Mapping[str, Any]],
        amended_from: StudyVersion | None,
    ) -> None:
        """Say when, by whom and over which failing checks it was opened. A study that goes back to
        an earlier content opens that version again; the log of deviations has both."""
        self.opened_at, self.opened_by_id, self.reason = at, user_id, reason
        self.overrides = [dict(each) for each in overrides]
        self.amended_from = amended_from
        self.save(update_fields=["opened_at", "opened_by", "reason", "overrides", "amended_from"])

    @property
    def configuration(self) -> StudyConfiguration:
        if self.sha256 not in _parsed:
            _parsed[self.sha256] = StudyConfiguration.from_json(self.configuration_json)
        return _parsed[self.sha256]


# Versions never change, so each is parsed once a process.
_parsed: dict[str, StudyConfiguration] = {}
