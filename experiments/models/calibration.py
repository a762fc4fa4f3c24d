"""A lab's own measurements of its embedders."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.embeddings.calibration import Measurement
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


class LabCalibrationQuerySet(TenantQuerySet["LabCalibration"]):
    def keep(self, measurement: Measurement) -> LabCalibration:
        """Store a measurement in place of an older one of the same embedder, language and form.

        Versions that were frozen with the older one keep it.
        """
        point = measurement.calibration
        row, _created = self.update_or_create(
            embedder=point.embedder_id,
            language=point.language,
            form=str(point.form),
            defaults={
                "low": point.low,
                "high": point.high,
                "evidence": list(measurement.evidence),
            },
        )
        return row


class LabCalibration(TenantModel):
    """The cosines of r = 0 and r = 1, and the relevance of true evidence on the bilingual set."""

    embedder = models.CharField(_("embedder"), max_length=120)
    language = models.CharField(_("language"), max_length=8)
    form = models.CharField(_("form"), max_length=20)
    low = models.FloatField(_("cosine of r = 0"))
    high = models.FloatField(_("cosine of r = 1"))
    evidence = models.JSONField(_("relevance of true evidence"), default=list)
    measured_at = models.DateTimeField(_("measured at"), auto_now=True)

    objects = TenantManager.from_queryset(LabCalibrationQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("calibration")
        verbose_name_plural = _("calibrations")
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "embedder", "language", "form"], name="one_calibration_a_form"
            )
        ]

    def __str__(self) -> str:
        return f"{self.embedder} {self.language} {self.form}"
