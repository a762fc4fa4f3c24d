"""Arms: an architecture with its parameters, and what apps above have to say about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from experiments import architectures
from experiments.admin.parameters import arm_form, field_name
from experiments.back_office import Menu, TenantModelAdmin
from experiments.enums import StudyStatus
from experiments.models import Arm
from experiments.rights import Area, Right

#: A part of an arm's page: the arm to HTML.
ArmPanel = Callable[[Arm], SafeString]


@admin.register(Arm)
class ArmAdmin(TenantModelAdmin):
    area = Area.DESIGN
    menu, menu_position, icon = Menu.STUDIES, 20, "account_tree"
    list_display = ["name", "key", "label", "study", "architecture_title", "preset", "weight"]
    list_filter = ["study", "architecture"]
    list_select_related = ["study"]
    search_fields = ["name", "key", "label", "study__title"]
    autocomplete_fields = ["study"]
    change_form_template = "back_office/arm.html"
    #: What apps above show beside the parameters, such as recall feasibility.
    panels: ClassVar[list[ArmPanel]] = []

    @admin.display(description=_("architecture"), ordering="architecture")
    def architecture_title(self, arm: Arm) -> str:
        return str(architectures.architecture(arm.architecture).title)

    def get_form(
        self, request: HttpRequest, obj: Arm | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if self.allowed(request, Right.CHANGE):
            kwargs["form"] = arm_form(obj)
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Arm | None = None) -> Any:
        names = ["study", ("name", "key"), ("label", "weight")]
        if obj is None:
            return [(None, {"fields": [*names, "architecture", "preset"]})]
        declared = architectures.architecture(obj.architecture)
        parameters = [field_name(each) for each in declared.parameters]
        return [
            (None, {"fields": [*names, "architecture_title", "within_session"]}),
            (
                _("Parameters"),
                {
                    "fields": [*(["preset"] if declared.presets else []), *parameters],
                    "description": None if parameters else _("This architecture has none."),
                },
            ),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Arm | None = None) -> list[str]:
        return [] if obj is None else ["study", "architecture_title"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.allowed(request, Right.CHANGE) and (
            obj is None or obj.study.status == StudyStatus.DRAFT
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        arm = context.get("original")
        if arm is not None:
            presets = architectures.architecture(arm.architecture).presets
            context["presets"] = {name: dict(values) for name, values in presets.items()}
            context["panels"] = [panel(arm) for panel in self.panels]
        return super().render_change_form(request, context, *args, **kwargs)
