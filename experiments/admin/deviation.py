"""The log of deviations: read-only; blinded staff don't see rows that tell something of an arm."""

from __future__ import annotations

import json

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.models import Deviation
from experiments.rights import Area, viewer_of


@admin.register(Deviation)
class DeviationAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 60, "rule"
    menu_title = _("Deviations")
    list_display = ["at", "kind", "study", "participant", "session", "who", "study_at"]
    list_filter = ["kind", "study", "participant__test_mode"]
    list_select_related = ["study", "participant", "session", "user"]
    search_fields = ["participant__code", "study__title", "user__name"]
    ordering = ["-pk"]
    fields = [
        "at",
        "kind",
        "study",
        "participant",
        "session",
        "who",
        "study_at",
        "shown_details",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Deviation]:
        viewer = viewer_of(request)
        if viewer is None:
            raise Http404
        return super().get_queryset(request).seen_by(viewer)  # type: ignore[attr-defined, no-any-return]

    @admin.display(description=_("by"), ordering="user__name")
    def who(self, deviation: Deviation) -> str:
        return "–" if deviation.user is None else deviation.user.get_full_name()

    @admin.display(description=_("details"))
    def shown_details(self, deviation: Deviation) -> SafeString:
        return format_html(
            "<pre class='ml-json'>{}</pre>",
            json.dumps(deviation.details, ensure_ascii=False, indent=2),
        )
