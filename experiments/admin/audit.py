"""The audit log: read-only, of the active lab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.back_office.changes import details_table, summary
from experiments.models import AuditEntry
from experiments.models.audit import told_action, told_kind
from experiments.rights import Area, viewer_of


class _InWords(admin.AllValuesFieldListFilter):
    """The values that there are, in words."""

    def told(self, value: str) -> str:
        raise NotImplementedError

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        everything, *values = super().choices(changelist)
        yield everything
        for value in values:
            yield {**value, "display": self.told(str(value["display"]))}


class ActionFilter(_InWords):
    def told(self, value: str) -> str:
        return told_action(value)


class KindFilter(_InWords):
    def told(self, value: str) -> str:
        return told_kind(value)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    area = Area.AUDIT
    menu, menu_position, icon = Menu.LAB, 40, "history"
    list_display = ["at", "who", "shown_action", "shown_kind", "target_id", "summary"]
    list_filter = [("action", ActionFilter), ("target_kind", KindFilter)]
    search_fields = ["action", "target_kind", "target_id"]
    list_select_related = ["user"]
    fields = ["at", "who", "shown_action", "shown_kind", "target_id", "details_table"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        viewer = viewer_of(request)
        if viewer is None:
            raise Http404
        return super().get_queryset(request).seen_by(viewer)  # type: ignore[attr-defined, no-any-return]

    @admin.display(description=_("by"), ordering="user__name")
    def who(self, entry: AuditEntry) -> str:
        return "–" if entry.user is None else entry.user.get_full_name()

    @admin.display(description=_("action"), ordering="action")
    def shown_action(self, entry: AuditEntry) -> str:
        return entry.action_label

    @admin.display(description=_("kind"), ordering="target_kind")
    def shown_kind(self, entry: AuditEntry) -> str:
        return entry.kind_label

    @admin.display(description=_("what"))
    def summary(self, entry: AuditEntry) -> str:
        return summary(entry)

    @admin.display(description=_("details"))
    def details_table(self, entry: AuditEntry) -> SafeString:
        return details_table(entry)
