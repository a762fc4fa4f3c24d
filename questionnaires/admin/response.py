"""Who answered what: responses, answers and scores, to look at and to search."""

from __future__ import annotations

import json

from django.contrib import admin
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from experiments.back_office import Menu, ReadOnlyAdmin, ReadOnlyInline
from experiments.rights import Area
from questionnaires.models import Answer, Response, Score

STATES = {"open": "warning", "complete": "success", "expired": "danger"}


def told(raw: object) -> str:
    """An answer as it was given, in one line."""
    return "–" if raw is None else str(raw) if isinstance(raw, str) else json.dumps(raw)


class AnswerInline(ReadOnlyInline):
    model = Answer
    area = Area.TRANSCRIPTS
    verbose_name_plural = _("answers")
    fields = ["shown_position", "item", "given", "value", "scored", "missing", "page_seconds"]
    ordering = ["shown_position", "pk"]
    show_change_link = False

    @admin.display(description=_("answer"))
    def given(self, answer: Answer) -> str:
        return told(answer.raw)


class ScoreInline(ReadOnlyInline):
    model = Score
    area = Area.TRANSCRIPTS
    verbose_name_plural = _("scores")
    fields = ["subscale", "value", "answered", "items"]
    show_change_link = False


@admin.register(Response)
class ResponseAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 60, "assignment"
    list_display = [
        "participant",
        "asked",
        "moment",
        "stage_key",
        "state_label",
        "attention_failures",
        "started_at",
        "completed_at",
    ]
    list_filter = [
        "state",
        "moment",
        "stage_key",
        "version__instrument",
        "participant__study",
        "participant__test_mode",
    ]
    list_select_related = ["participant", "version__instrument"]
    search_fields = ["participant__code", "version__instrument__key"]
    ordering = ["-started_at"]
    inlines = [AnswerInline, ScoreInline]
    fields = [
        "participant",
        "version",
        "moment",
        "stage_key",
        "position",
        "state",
        "page",
        "attention_failures",
        "started_at",
        "completed_at",
        "recorded_at",
    ]

    @admin.display(description=_("questionnaire"), ordering="version__instrument__key")
    def asked(self, response: Response) -> str:
        if response.version is None:
            return str(_("external survey"))
        return f"{response.version.instrument} · {response.version.number}"

    @display(description=_("state"), ordering="state", label=STATES)
    def state_label(self, response: Response) -> tuple[str, str]:
        return response.state, response.get_state_display()


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    area = Area.TRANSCRIPTS
    menu, menu_position, icon = Menu.PEOPLE, 70, "checklist"
    list_display = [
        "participant",
        "asked",
        "stage_key",
        "item",
        "given",
        "scored",
        "missing",
        "answered_at",
    ]
    list_filter = [
        "missing",
        "response__moment",
        "response__stage_key",
        "response__version__instrument",
        "response__participant__study",
        "response__participant__test_mode",
    ]
    list_select_related = ["response__participant", "response__version__instrument"]
    search_fields = ["item", "response__participant__code", "raw"]
    ordering = ["-answered_at", "response", "shown_position"]
    fields = [
        "response",
        "item",
        "given",
        "value",
        "scored",
        "missing",
        "shown_position",
        "page",
        "page_seconds",
        "answered_at",
    ]

    @admin.display(description=_("participant"), ordering="response__participant__code")
    def participant(self, answer: Answer) -> str:
        return str(answer.response.participant)

    @admin.display(description=_("questionnaire"), ordering="response__version__instrument__key")
    def asked(self, answer: Answer) -> str:
        version = answer.response.version
        return str(_("external survey")) if version is None else str(version.instrument)

    @admin.display(description=_("stage"), ordering="response__stage_key")
    def stage_key(self, answer: Answer) -> str:
        return answer.response.stage_key

    @admin.display(description=_("answer"))
    def given(self, answer: Answer) -> str:
        return Truncator(told(answer.raw)).chars(80)


@admin.register(Score)
class ScoreAdmin(ReadOnlyAdmin):
    area = Area.TRANSCRIPTS
    menu, menu_position, icon = Menu.PEOPLE, 80, "leaderboard"
    list_display = [
        "participant",
        "asked",
        "stage_key",
        "moment",
        "subscale",
        "rounded",
        "answered_of",
    ]
    list_filter = [
        "subscale",
        "response__moment",
        "response__stage_key",
        "response__version__instrument",
        "response__participant__study",
        "response__participant__test_mode",
    ]
    list_select_related = ["response__participant", "response__version__instrument"]
    search_fields = ["subscale", "response__participant__code"]
    fields = ["response", "subscale", "value", "answered", "items"]

    @admin.display(description=_("participant"), ordering="response__participant__code")
    def participant(self, score: Score) -> str:
        return str(score.response.participant)

    @admin.display(description=_("questionnaire"), ordering="response__version__instrument__key")
    def asked(self, score: Score) -> str:
        version = score.response.version
        return "" if version is None else str(version.instrument)

    @admin.display(description=_("stage"), ordering="response__stage_key")
    def stage_key(self, score: Score) -> str:
        return score.response.stage_key

    @admin.display(description=_("when"), ordering="response__moment")
    def moment(self, score: Score) -> str:
        return score.response.get_moment_display()

    @admin.display(description=_("value"), ordering="value")
    def rounded(self, score: Score) -> str:
        return "–" if score.value is None else f"{score.value:.2f}"

    @admin.display(description=_("items answered"))
    def answered_of(self, score: Score) -> str:
        return f"{score.answered} / {score.items}"
