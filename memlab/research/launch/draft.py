"""What launch checks look at: a study's draft, frozen for the moment, and where its parts are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from experiments.configuration import ArmConfiguration, StudyConfiguration
from experiments.models import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Made inside a lab's scope, and looked at there. ``wall`` is the wall time of the look."""

    study: Study
    configuration: StudyConfiguration
    wall: datetime

    @property
    def url(self) -> str:
        return reverse("admin:experiments_study_change", args=[self.study.pk])

    def page(self, slug: str) -> str:
        return reverse(f"admin:experiments_study_{slug}", args=[self.study.pk])

    def arm_url(self, arm: ArmConfiguration) -> str:
        row = self.study.arms.get(key=arm.key)
        return reverse("admin:experiments_arm_change", args=[row.pk])
