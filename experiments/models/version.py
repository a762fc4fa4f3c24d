"""The frozen versions that participants run under."""

from __future__ import annotations

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

    @property
    def configuration(self) -> StudyConfiguration:
        if self.sha256 not in _parsed:
            _parsed[self.sha256] = StudyConfiguration.from_json(self.configuration_json)
        return _parsed[self.sha256]


# Versions never change, so each is parsed once a process.
_parsed: dict[str, StudyConfiguration] = {}
