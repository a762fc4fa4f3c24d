"""Whether models answered when they were asked for the launch checklist."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.models import DoorProbe
from experiments.rights import Area


@admin.register(DoorProbe)
class DoorProbeAdmin(ReadOnlyAdmin):
    area = Area.DESIGN
    menu, menu_position, icon = Menu.STUDIES, 50, "network_check"
    menu_title = _("Models that were asked")
    list_display = ["at", "study", "use", "provider", "model", "answered", "milliseconds"]
    list_filter = ["study", "use", "answered"]
    list_select_related = ["study"]
    search_fields = ["model", "failure", "study__title"]
    ordering = ["-pk"]
    fields = [
        "at",
        "study",
        "use",
        "provider",
        "model",
        "key",
        "answered",
        "answered_model",
        "failure",
        "milliseconds",
    ]
