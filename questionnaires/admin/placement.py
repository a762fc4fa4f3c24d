"""Which questionnaire a study asks when: on the study's page, and as a list of all studies."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.decorators import display

from experiments.admin.study import StudyAdmin
from experiments.back_office import Menu, TenantModelAdmin
from experiments.models import Stage
from experiments.rights import Area, Right, viewer_of
from questionnaires.models import Instrument, Placement


class PlacementInline(TabularInline):
    model = Placement
    extra = 0
    tab = True
    verbose_name_plural = _("questionnaires")
    fields = ["moment", "stage", "position", "instrument", "external_url", "half"]
    ordering = ["stage__number", "moment", "position"]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "external_url":
            kwargs["assume_scheme"] = "https"
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        match = request.resolver_match
        study = match.kwargs.get("object_id", "") if match is not None else ""
        if db_field.name == "stage":
            kwargs["queryset"] = Stage.objects.filter(study_id=study if study.isdecimal() else None)
        if db_field.name == "instrument":
            kwargs["queryset"] = Instrument.objects.all()
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def _allowed(self, request: HttpRequest, right: Right) -> bool:
        viewer = viewer_of(request)
        return viewer is not None and viewer.may(Area.STUDIES, right)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.VIEW)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.CHANGE)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.CHANGE)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.CHANGE)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Placement]:
        viewer = viewer_of(request)
        assert viewer is not None
        return super().get_queryset(request).filter(lab_id=viewer.member.lab_id)


StudyAdmin.inlines = [*StudyAdmin.inlines, PlacementInline]


@admin.register(Placement)
class PlacementAdmin(TenantModelAdmin):
    """Looked at across studies; added and changed on the study's own page."""

    area = Area.STUDIES
    menu, menu_position, icon = Menu.STUDIES, 50, "event_note"
    list_display = ["asked", "study", "moment", "stage", "position", "half_label"]
    list_filter = ["study", "moment", "half"]
    list_select_related = ["study", "stage", "instrument"]
    search_fields = [
        "study__title",
        "instrument__key",
        "instrument__title_en",
        "instrument__title_zh",
        "external_url",
    ]
    fields = ["study", "moment", "stage", "position", "instrument", "external_url", "half"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """So that a draft study can be deleted with them."""
        return self.allowed(request, Right.CHANGE)

    @admin.display(description=_("questionnaire"), ordering="instrument__key")
    def asked(self, placement: Placement) -> str:
        return str(placement.instrument or placement.external_url)

    @display(description=_("a random half only"), boolean=True, ordering="half")
    def half_label(self, placement: Placement) -> bool:
        return placement.half
