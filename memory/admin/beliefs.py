"""Beliefs and session logs of adaptive confidence."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from experiments.back_office import EvidenceAdmin
from memory.admin.rows import as_json
from memory.models import Belief, SessionLog


@admin.register(Belief)
class BeliefAdmin(EvidenceAdmin):
    menu_position, icon = 62, "psychology"
    list_display = [
        "content",
        "category",
        "participant",
        "rounded_confidence",
        "factual",
        "mentions",
        "accesses",
        "changed_at",
    ]
    list_filter = ["category", "factual", "participant__study", "stage_key"]
    list_select_related = ["participant"]
    search_fields = ["content", "participant__code"]
    ordering = ["-changed_at"]
    fields = [
        "participant",
        "category",
        "content",
        "factual",
        "confidence",
        "mentions",
        "accesses",
        "stage_key",
        "session_number",
        "formed_at",
        "changed_at",
        "version",
        "sources",
    ]

    @admin.display(description=_("confidence"), ordering="confidence")
    def rounded_confidence(self, belief: Belief) -> str:
        return f"{belief.confidence:.2f}"

    @admin.display(description=_("messages"))
    def sources(self, belief: Belief) -> SafeString:
        return as_json([str(message) for message in belief.message_ids])


@admin.register(SessionLog)
class SessionLogAdmin(EvidenceAdmin):
    menu_position, icon = 64, "edit_note"
    list_display = ["excerpt", "participant", "stage_key", "at"]
    list_filter = ["participant__study", "stage_key"]
    list_select_related = ["participant"]
    search_fields = ["text", "participant__code"]
    ordering = ["-at"]
    fields = ["participant", "stage_key", "session_number", "text", "at", "sources"]

    @admin.display(description=_("text"), ordering="text")
    def excerpt(self, log: SessionLog) -> str:
        return Truncator(log.text).chars(80)

    @admin.display(description=_("messages"))
    def sources(self, log: SessionLog) -> SafeString:
        return as_json([str(message) for message in log.message_ids])
