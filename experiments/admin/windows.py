"""Windows and reminders: what was extended, what was lost, and what was sent."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.models import Extension, Reminder, WindowMark
from experiments.rights import Area


class _OfParticipant(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu = Menu.PEOPLE
    list_select_related = ["participant__study"]
    search_fields = ["participant__code", "stage_key"]

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, row: Any) -> str:
        return str(row.participant.study.title)


@admin.register(WindowMark)
class WindowMarkAdmin(_OfParticipant):
    menu_position, icon = 50, "event_busy"
    list_display = ["participant", "study", "stage_key", "lost_label", "at", "lifted_by"]
    list_filter = ["participant__study", "lost", "stage_key", "participant__test_mode"]
    fields = ["participant", "study", "stage_key", "lost", "at", "lifted_by", "recorded_at"]

    @display(description=_("how"), ordering="lost", label={"missed": "warning", "lapsed": "danger"})
    def lost_label(self, mark: WindowMark) -> tuple[str, str]:
        return mark.lost, mark.get_lost_display()


@admin.register(Extension)
class ExtensionAdmin(_OfParticipant):
    menu_position, icon = 55, "more_time"
    list_display = ["participant", "study", "stage_key", "until", "user", "recorded_at"]
    list_filter = ["participant__study", "stage_key"]
    list_select_related = ["participant__study", "user"]
    fields = ["participant", "study", "stage_key", "until", "reason", "user", "recorded_at"]


@admin.register(Reminder)
class ReminderAdmin(_OfParticipant):
    menu_position, icon = 60, "notifications"
    list_display = [
        "participant",
        "study",
        "kind",
        "stage_key",
        "number",
        "channel",
        "state_label",
        "due_at",
        "sent_at",
    ]
    list_filter = [
        "participant__study",
        "state",
        "channel",
        "kind",
        "stage_key",
        "rule",
        "participant__test_mode",
    ]
    ordering = ["-due_at"]
    fields = [
        "participant",
        "study",
        "kind",
        "stage_key",
        "number",
        "channel",
        "state",
        "rule",
        "failure",
        "attempts",
        "due_at",
        "sending_at",
        "settled_at",
        "sent_at",
    ]

    @display(
        description=_("state"),
        ordering="state",
        label={
            "planned": "info",
            "sending": "info",
            "sent": "success",
            "simulated": "success",
            "unknown": "warning",
            "failed": "danger",
        },
    )
    def state_label(self, reminder: Reminder) -> tuple[str, str]:
        return reminder.state, reminder.get_state_display()
