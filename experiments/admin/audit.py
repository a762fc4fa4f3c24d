"""The audit log: read-only, of the active lab."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.back_office.changes import details_table, summary
from experiments.models import AuditEntry
from experiments.rights import Area


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    area = Area.AUDIT
    menu, menu_position, icon = Menu.LAB, 40, "history"
    list_display = ["at", "who", "action", "target_kind", "target_id", "summary"]
    list_filter = ["action", "target_kind"]
    search_fields = ["action", "target_kind", "target_id"]
    list_select_related = ["user"]
    fields = ["at", "who", "action", "target_kind", "target_id", "details_table"]

    @admin.display(description=_("by"), ordering="user__name")
    def who(self, entry: AuditEntry) -> str:
        return "–" if entry.user is None else entry.user.get_full_name()

    @admin.display(description=_("what"))
    def summary(self, entry: AuditEntry) -> str:
        return summary(entry)

    @admin.display(description=_("details"))
    def details_table(self, entry: AuditEntry) -> SafeString:
        return details_table(entry)
