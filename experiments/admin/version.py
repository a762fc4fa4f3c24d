"""Frozen versions: what they hold, and how each differs from the one before."""

from __future__ import annotations

import difflib
import json
from typing import Any

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.models import StudyVersion
from experiments.rights import Area


@admin.register(StudyVersion)
class StudyVersionAdmin(ReadOnlyAdmin):
    area = Area.DESIGN
    menu, menu_position, icon = Menu.STUDIES, 30, "lock"
    list_display = ["study", "number", "short_hash", "created_at", "opened_at", "reason"]
    list_filter = ["study"]
    list_select_related = ["study"]
    search_fields = ["study__title", "sha256", "reason"]
    fields = [
        "study",
        "number",
        "sha256",
        "created_at",
        "opened_at",
        "amended_from",
        "reason",
        "difference",
        "content",
    ]

    @admin.display(description="SHA-256")
    def short_hash(self, version: StudyVersion) -> str:
        return version.sha256[:12]

    @admin.display(description=_("configuration"))
    def content(self, version: StudyVersion) -> SafeString:
        return format_html("<pre class='ml-json'>{}</pre>", readable(version.configuration_json))

    @admin.display(description=_("differs from the version before"))
    def difference(self, version: StudyVersion) -> SafeString | str:
        before = (
            StudyVersion.objects.filter(study=version.study_id, number__lt=version.number)
            .order_by("-number")
            .first()
        )
        if before is None:
            return _now("This is the first version.")
        return rendered_difference(before.configuration_json, version.configuration_json)


def readable(configuration: Any) -> str:
    """Indented JSON with its text as it reads."""
    return json.dumps(configuration, ensure_ascii=False, indent=2)


def rendered_difference(before: Any, after: Any) -> SafeString:
    """A unified diff of two configurations, three lines of context around each change."""
    lines = list(
        difflib.unified_diff(
            readable(before).splitlines(), readable(after).splitlines(), lineterm="", n=3
        )
    )[2:]
    kinds = {"+": "added", "-": "removed", "@": "place"}
    return format_html(
        "<pre class='ml-json ml-lines'>{}</pre>",
        format_html_join(
            "\n",
            "<span class='ml-{}'>{}</span>",
            ((kinds.get(line[:1], "same"), line) for line in lines),
        ),
    )
