"""Episodes, traits, their events and the consolidation runs."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from experiments.back_office import EvidenceAdmin
from memory.admin.counts import refused, written
from memory.models import ConsolidationRun, Episode, MemoryEvent, Trait


def as_json(value: Any) -> SafeString:
    """A value as a page shows it."""
    return format_html(
        "<pre class='ml-json'>{}</pre>", json.dumps(value, ensure_ascii=False, indent=2)
    )


@admin.register(Episode)
class EpisodeAdmin(EvidenceAdmin):
    menu_position, icon = 50, "auto_stories"
    list_display = [
        "excerpt",
        "participant",
        "stage_key",
        "encoded_at",
        "rounded_salience",
        "rounded_g",
        "recall_count",
        "recallable_until",
    ]
    list_filter = ["participant__study", "stage_key"]
    list_select_related = ["participant"]
    search_fields = ["text", "participant__code"]
    ordering = ["-encoded_at"]
    fields = [
        "participant",
        "stage_key",
        "session_number",
        "text",
        "form",
        "encoded_at",
        "anchor",
        "g",
        "salience",
        "importance",
        "intensity",
        "self_disclosure",
        "value_relevance",
        "recall_count",
        "last_recalled_at",
        "recallable_until",
        "embedder",
        "sources",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Episode]:
        return super().get_queryset(request).defer(*Episode.KEYS)

    @admin.display(description=_("text"), ordering="text")
    def excerpt(self, episode: Episode) -> str:
        return Truncator(episode.text).chars(80)

    @admin.display(description=_("salience"), ordering="salience")
    def rounded_salience(self, episode: Episode) -> str:
        return f"{episode.salience:.2f}"

    @admin.display(description="g", ordering="g")
    def rounded_g(self, episode: Episode) -> str:
        return f"{episode.g:.2f}"

    @admin.display(description=_("messages"))
    def sources(self, episode: Episode) -> SafeString:
        return as_json([str(message) for message in episode.message_ids])


@admin.register(Trait)
class TraitAdmin(EvidenceAdmin):
    menu_position, icon = 60, "id_card"
    list_display = [
        "worded",
        "dimension",
        "participant",
        "stage_key",
        "rounded_salience",
        "learned_at",
    ]
    list_filter = ["dimension", "participant__study", "stage_key"]
    list_select_related = ["participant"]
    search_fields = ["text", "key", "participant__code"]
    fields = [
        "participant",
        "dimension",
        "key",
        "text",
        "emotion",
        "salience",
        "stage_key",
        "session_number",
        "learned_at",
        "sources",
    ]

    @admin.display(description=_("trait"), ordering="text")
    def worded(self, trait: Trait) -> str:
        return trait.worded()

    @admin.display(description=_("salience"), ordering="salience")
    def rounded_salience(self, trait: Trait) -> str:
        return f"{trait.salience:.2f}"

    @admin.display(description=_("messages"))
    def sources(self, trait: Trait) -> SafeString:
        return as_json([str(message) for message in trait.message_ids])


@admin.register(MemoryEvent)
class MemoryEventAdmin(EvidenceAdmin):
    menu_position, icon = 70, "timeline"
    list_display = ["study_at", "event", "memory_kind", "participant", "cause", "memory_id"]
    list_filter = ["event", "memory_kind", "cause", "participant__study"]
    list_select_related = ["participant"]
    search_fields = ["participant__code"]
    ordering = ["-pk"]
    fields = [
        "participant",
        "event",
        "memory_kind",
        "memory_id",
        "cause",
        "shown_before",
        "shown_after",
        "shown_note",
        "study_at",
        "wall_at",
    ]

    @admin.display(description=_("before"))
    def shown_before(self, event: MemoryEvent) -> SafeString:
        return as_json(event.before)

    @admin.display(description=_("after"))
    def shown_after(self, event: MemoryEvent) -> SafeString:
        return as_json(event.after)

    @admin.display(description=_("note"))
    def shown_note(self, event: MemoryEvent) -> SafeString:
        return as_json(event.note)


@admin.register(ConsolidationRun)
class ConsolidationRunAdmin(EvidenceAdmin):
    menu_position, icon = 80, "bedtime"
    list_display = ["participant", "part", "shown_written", "shown_dropped", "study_at", "wall_at"]
    list_filter = ["part", "participant__study"]
    list_select_related = ["participant"]
    search_fields = ["participant__code"]
    ordering = ["-pk"]
    fields = ["participant", "part", "shown_written", "shown_dropped", "study_at", "wall_at"]

    @admin.display(description=_("written"))
    def shown_written(self, run: ConsolidationRun) -> str:
        return written(run.written) or "–"

    @admin.display(description=_("dropped"))
    def shown_dropped(self, run: ConsolidationRun) -> str:
        return refused(run.dropped) or "–"
