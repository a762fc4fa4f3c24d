"""What a lab has measured of its embedders; `manage.py calibrate_study` writes it."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.models import LabCalibration
from experiments.rights import Area


@admin.register(LabCalibration)
class LabCalibrationAdmin(ReadOnlyAdmin):
    area = Area.DESIGN
    menu, menu_position, icon = Menu.STUDIES, 40, "straighten"
    list_display = ["embedder", "language", "form", "low", "high", "pairs", "measured_at"]
    list_filter = ["language", "form"]
    search_fields = ["embedder"]
    fields = ["embedder", "language", "form", "low", "high", "pairs", "measured_at"]

    @admin.display(description=_("pairs of true evidence"))
    def pairs(self, calibration: LabCalibration) -> int:
        return len(calibration.evidence)
