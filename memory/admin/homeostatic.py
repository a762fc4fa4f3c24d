"""The homeostatic memory in the back office: its state, its log, its bins and its sleeps."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from experiments.back_office import EvidenceAdmin
from memory.admin.rows import as_json
from memory.enums import Bin, EventTag
from memory.formulas.regulation import State
from memory.models import BinnedItem, LoggedTurn, RegulatedState, SleepRun

_STATE = list(State._fields)
_BIN_LABELS = {
    Bin.FACT.value: "info",
    Bin.RELATION.value: "success",
    Bin.AFFECT.value: "warning",
    Bin.STYLE.value: "primary",
}


def _rounded(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


@admin.register(BinnedItem)
class BinnedItemAdmin(EvidenceAdmin):
    menu_position, icon = 67, "category"
    list_display = [
        "excerpt",
        "bin_label",
        "participant",
        "rounded_importance",
        "rounded_rpe",
        "at",
        "expires_at",
    ]
    list_filter = ["bin", "participant__study", "stage_key"]
    list_select_related = ["participant"]
    search_fields = ["text", "participant__code"]
    ordering = ["-at"]
    fields = [
        "participant",
        "stage_key",
        "session_number",
        "bin",
        "text",
        "at",
        "importance",
        "settled_at",
        "rpe",
        *_STATE,
        "expires_at",
        "embedder",
        "sources",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[BinnedItem]:
        hidden = ("vector", "vector_in_context", "words", "words_in_context")
        return super().get_queryset(request).defer(*hidden)

    @admin.display(description=_("text"), ordering="text")
    def excerpt(self, item: BinnedItem) -> str:
        return Truncator(item.text).chars(80)

    @display(description=_("bin"), ordering="bin", label=_BIN_LABELS)
    def bin_label(self, item: BinnedItem) -> tuple[str, Any]:
        return item.bin, item.get_bin_display()

    @admin.display(description=_("importance"), ordering="importance")
    def rounded_importance(self, item: BinnedItem) -> str:
        return _rounded(item.importance)

    @admin.display(description=_("prediction error"), ordering="rpe")
    def rounded_rpe(self, item: BinnedItem) -> str:
        return _rounded(item.rpe)

    @admin.display(description=_("messages"))
    def sources(self, item: BinnedItem) -> SafeString:
        return as_json([str(message) for message in item.message_ids])


@admin.register(LoggedTurn)
class LoggedTurnAdmin(EvidenceAdmin):
    menu_position, icon = 68, "forum"
    list_display = [
        "excerpt",
        "participant",
        "at",
        "named_events",
        "rounded_reward",
        "rounded_threat",
        "rounded_da",
        "rounded_ne",
        "consumed",
    ]
    list_filter = ["participant__study", "stage_key", "sampled"]
    list_select_related = ["participant"]
    search_fields = ["said", "answered", "participant__code"]
    ordering = ["-at"]
    fields = [
        "participant",
        "stage_key",
        "session_number",
        "at",
        "said",
        "answered",
        "valence",
        "offensiveness",
        "boundary",
        "named_events",
        "rpe_reward",
        "rpe_threat",
        *_STATE,
        "inclinations",
        "retrieval",
        "brought",
        "token_out",
        "consumed_by",
        "sampled",
        "sources",
    ]

    @admin.display(description=_("the participant said"), ordering="said")
    def excerpt(self, turn: LoggedTurn) -> str:
        return Truncator(turn.said).chars(60)

    @admin.display(description=_("events"))
    def named_events(self, turn: LoggedTurn) -> str:
        labels = dict(EventTag.choices)
        return ", ".join(str(labels.get(event, event)) for event in turn.events) or "–"

    @admin.display(description=_("reward error"), ordering="rpe_reward")
    def rounded_reward(self, turn: LoggedTurn) -> str:
        return _rounded(turn.rpe_reward)

    @admin.display(description=_("threat error"), ordering="rpe_threat")
    def rounded_threat(self, turn: LoggedTurn) -> str:
        return _rounded(turn.rpe_threat)

    @admin.display(description="da", ordering="da")
    def rounded_da(self, turn: LoggedTurn) -> str:
        return _rounded(turn.da)

    @admin.display(description="ne", ordering="ne")
    def rounded_ne(self, turn: LoggedTurn) -> str:
        return _rounded(turn.ne)

    @admin.display(description=_("consolidated"), boolean=True)
    def consumed(self, turn: LoggedTurn) -> bool:
        return turn.consumed_by is not None

    @admin.display(description=_("behaviour"))
    def inclinations(self, turn: LoggedTurn) -> SafeString:
        return as_json(turn.behaviour)

    @admin.display(description=_("what was brought"))
    def brought(self, turn: LoggedTurn) -> SafeString:
        return as_json(turn.retrieved)

    @admin.display(description=_("messages"))
    def sources(self, turn: LoggedTurn) -> SafeString:
        return as_json([str(message) for message in turn.message_ids])


@admin.register(SleepRun)
class SleepRunAdmin(EvidenceAdmin):
    menu_position, icon = 69, "bedtime"
    list_display = [
        "at",
        "participant",
        "trigger",
        "turns",
        "kept",
        "rounded_mean_reward",
        "rounded_mean_threat",
        "high_impact_seconds",
        "rounded_mu_reward",
        "rounded_mu_threat",
    ]
    list_filter = ["trigger", "participant__study"]
    list_select_related = ["participant"]
    search_fields = ["participant__code"]
    ordering = ["-at"]
    fields = [
        "participant",
        "at",
        "trigger",
        "turns",
        "kept",
        "mean_reward",
        "mean_threat",
        "peak_reward",
        "peak_threat",
        "high_impact_seconds",
        "mu_reward",
        "mu_threat",
        "wall_at",
    ]

    @admin.display(description=_("mean reward error"), ordering="mean_reward")
    def rounded_mean_reward(self, run: SleepRun) -> str:
        return _rounded(run.mean_reward)

    @admin.display(description=_("mean threat error"), ordering="mean_threat")
    def rounded_mean_threat(self, run: SleepRun) -> str:
        return _rounded(run.mean_threat)

    @admin.display(description=_("slow variable of reward"), ordering="mu_reward")
    def rounded_mu_reward(self, run: SleepRun) -> str:
        return _rounded(run.mu_reward)

    @admin.display(description=_("slow variable of threat"), ordering="mu_threat")
    def rounded_mu_threat(self, run: SleepRun) -> str:
        return _rounded(run.mu_threat)


@admin.register(RegulatedState)
class RegulatedStateAdmin(EvidenceAdmin):
    menu_position, icon = 71, "monitor_heart"
    list_display = ["participant", "anchor", *_STATE, "mu_reward", "mu_threat", "last_slept_at"]
    list_filter = ["participant__study"]
    list_select_related = ["participant"]
    search_fields = ["participant__code"]
    fields = [
        "participant",
        "anchor",
        *_STATE,
        "expected_reward",
        "expected_threat",
        "mu_reward",
        "mu_threat",
        "opposed_reward",
        "opposed_threat",
        "low_impact_turns",
        "last_slept_at",
    ]
