"""An arm: which memory its participants meet."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments import architectures
from experiments.configuration import ArmConfiguration
from experiments.enums import WithinSession
from experiments.models.study import Study
from memlab.core.tenancy.models import TenantModel


class Arm(TenantModel):
    study = models.ForeignKey(Study, models.CASCADE, related_name="arms", verbose_name=_("study"))
    key = models.SlugField(_("key"), max_length=40)
    name = models.CharField(_("name"), max_length=120)
    label = models.CharField(
        _("blinded label"), max_length=20, help_text=_("What blinded staff see, e.g. A.")
    )
    architecture = models.CharField(_("architecture"), max_length=40)
    preset = models.CharField(_("preset"), max_length=40, blank=True)
    parameters = models.JSONField(_("parameters"), default=dict, blank=True)
    weight = models.PositiveSmallIntegerField(
        _("weight"), default=1, validators=[MinValueValidator(1)]
    )
    within_session = models.CharField(
        _("within session"),
        max_length=8,
        choices=WithinSession.choices,
        blank=True,
        help_text=_("Only where this arm differs from the study's shared factor; it is frozen."),
    )

    class Meta(TenantModel.Meta):
        verbose_name = _("arm")
        verbose_name_plural = _("arms")
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "study", "key"], name="arm_key_in_study"),
            models.UniqueConstraint(fields=["lab", "study", "label"], name="arm_label_in_study"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.architecture:
            self.parameters = self.complete_parameters()

    def complete_parameters(self) -> dict[str, Any]:
        """Preset, then the arm's own values, then the declared defaults; ValidationError if bad."""
        presets = (
            architectures.architecture(self.architecture).presets
            if self.architecture in dict(architectures.choices())
            else {}
        )
        if self.preset and self.preset not in presets:
            raise ValidationError(
                {
                    "preset": _now(
                        "%(preset)s is no preset of %(architecture)s. It has: %(known)s."
                    )
                    % {
                        "preset": self.preset,
                        "architecture": self.architecture,
                        "known": ", ".join(presets) or "–",
                    }
                }
            )
        given = {**presets.get(self.preset, {}), **self.parameters}
        return architectures.validated_parameters(self.architecture, given)

    def configuration(self) -> ArmConfiguration:
        return ArmConfiguration(
            key=self.key,
            name=self.name,
            label=self.label,
            architecture=self.architecture,
            parameters=self.complete_parameters(),
            weight=self.weight,
            within_session=WithinSession(self.within_session) if self.within_session else None,
        )
