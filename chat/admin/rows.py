"""Messages and replies as rows; receipts for whoever is unblinded."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from chat.models import Message, Receipt, Reply, Writing
from experiments.back_office import EvidenceAdmin, Menu, ReadOnlyAdmin
from experiments.back_office.codes import all_told, told
from experiments.rights import Area, viewer_of

REPLY_LABELS = {"done": "success", "pending": "info", "failed": "danger"}


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    area = Area.TRANSCRIPTS
    menu, menu_position, icon = Menu.PEOPLE, 30, "chat_bubble"
    list_display = ["excerpt", "role", "participant", "stage", "seq", "at"]
    list_filter = ["role", "session__participant__study", "session__stage_key"]
    list_select_related = ["session__participant"]
    search_fields = ["text", "session__participant__code"]
    ordering = ["-recorded_at", "-seq"]
    fields = ["participant", "stage", "seq", "role", "text", "at", "recorded_at"]

    @admin.display(description=_("text"), ordering="text")
    def excerpt(self, message: Message) -> str:
        return Truncator(message.text).chars(90) or "–"

    @admin.display(description=_("participant"), ordering="session__participant__code")
    def participant(self, message: Message) -> str:
        return message.session.participant.code

    @admin.display(description=_("stage"), ordering="session__stage_key")
    def stage(self, message: Message) -> str:
        return message.session.stage_key


@admin.register(Writing)
class WritingAdmin(ReadOnlyAdmin):
    area = Area.TRANSCRIPTS
    menu, menu_position, icon = Menu.PEOPLE, 31, "keyboard"
    list_display = [
        "participant",
        "stage",
        "number",
        "typing_ms",
        "pastes",
        "pasted_characters",
        "departures",
        "away_ms",
    ]
    list_filter = ["message__session__participant__study", "message__session__stage_key"]
    list_select_related = ["message__session__participant"]
    search_fields = ["message__session__participant__code"]
    ordering = ["-pk"]
    fields = [*list_display, "recorded_at"]

    @admin.display(description=_("participant"))
    def participant(self, writing: Writing) -> str:
        return writing.message.session.participant.code

    @admin.display(description=_("stage"))
    def stage(self, writing: Writing) -> str:
        return writing.message.session.stage_key

    @admin.display(description=_("number"))
    def number(self, writing: Writing) -> int:
        return writing.message.seq


@admin.register(Reply)
class ReplyAdmin(ReadOnlyAdmin):
    """Why a reply failed may depend on the arm's prompt: blinded staff see that, not why."""

    area = Area.TRANSCRIPTS
    menu, menu_position, icon = Menu.PEOPLE, 35, "quickreply"
    list_display = [
        "participant",
        "stage",
        "number",
        "state_label",
        "attempt",
        "retryable",
        "asked",
    ]
    list_filter = ["state", "retryable", "session__participant__study"]
    list_select_related = ["session__participant", "message"]
    search_fields = ["session__participant__code"]
    ordering = ["-message__recorded_at"]

    def get_fields(self, request: HttpRequest, obj: Reply | None = None) -> Any:
        fields = ["participant", "stage", "number", "state", "attempt", "retryable", "asked"]
        viewer = viewer_of(request)
        if obj is not None and viewer and viewer.sees_arm_of(obj.session.participant):
            fields += ["shown_failure", "failure_detail", "partial"]
        return fields

    @admin.display(description=_("failure"), ordering="failure")
    def shown_failure(self, reply: Reply) -> str:
        return told(reply.failure) or "–"

    @display(description=_("state"), ordering="state", label=REPLY_LABELS)
    def state_label(self, reply: Reply) -> tuple[str, str]:
        return reply.state, reply.get_state_display()

    @admin.display(description=_("participant"), ordering="session__participant__code")
    def participant(self, reply: Reply) -> str:
        return reply.session.participant.code

    @admin.display(description=_("stage"), ordering="session__stage_key")
    def stage(self, reply: Reply) -> str:
        return reply.session.stage_key

    @admin.display(description=_("number"), ordering="message__seq")
    def number(self, reply: Reply) -> int:
        return reply.message.seq

    @admin.display(description=_("at (study time)"), ordering="message__at")
    def asked(self, reply: Reply) -> Any:
        return display_for_value(reply.message.at, "–")


def as_json(value: Any) -> SafeString:
    return format_html(
        "<pre class='ml-json'>{}</pre>", json.dumps(value, ensure_ascii=False, indent=2)
    )


@admin.register(Receipt)
class ReceiptAdmin(EvidenceAdmin):
    menu_position, icon = 30, "receipt_long"
    participant_path = "reply__session__participant"
    list_display = [
        "participant",
        "stage",
        "architecture",
        "brought",
        "prompt_tokens",
        "model",
        "fell_back",
        "is_degraded",
        "recorded_at",
    ]
    list_filter = [
        "architecture",
        "provider",
        ("fallback_after", admin.EmptyFieldListFilter),
        "reply__session__participant__study",
    ]
    list_select_related = ["reply__session__participant"]
    search_fields = ["reply__session__participant__code", "model", "request_id"]
    ordering = ["-recorded_at"]
    fields = [
        "participant",
        "stage",
        "attempt",
        "architecture",
        "provider",
        "model",
        "shown_fallback",
        "request_id",
        "finish_reason",
        "prompt_tokens",
        "completion_tokens",
        "tries",
        "rounds",
        "shown_tools",
        "shown_timings",
        "shown_degraded",
        "shown_sections",
        "shown_recalled",
        "shown_near_misses",
        "shown_prompt",
        "recorded_at",
    ]

    @admin.display(description=_("participant"), ordering="reply__session__participant__code")
    def participant(self, receipt: Receipt) -> str:
        return receipt.reply.session.participant.code

    @admin.display(description=_("stage"), ordering="reply__session__stage_key")
    def stage(self, receipt: Receipt) -> str:
        return receipt.reply.session.stage_key

    @admin.display(description=_("recalled"))
    def brought(self, receipt: Receipt) -> int:
        return len(receipt.recalled)

    @admin.display(description=_("fallback"), boolean=True)
    def fell_back(self, receipt: Receipt) -> bool:
        return bool(receipt.fallback_after)

    @admin.display(description=_("fallback after"))
    def shown_fallback(self, receipt: Receipt) -> str:
        return told(receipt.fallback_after) or "–"

    @admin.display(description=_("degraded"), boolean=True)
    def is_degraded(self, receipt: Receipt) -> bool:
        return bool(receipt.degraded)

    @admin.display(description=_("tool calls"))
    def shown_tools(self, receipt: Receipt) -> SafeString:
        return as_json(receipt.tools)

    @admin.display(description=_("timings, ms"))
    def shown_timings(self, receipt: Receipt) -> SafeString:
        return as_json(receipt.timings)

    @admin.display(description=_("degraded"))
    def shown_degraded(self, receipt: Receipt) -> str:
        return all_told(receipt.degraded) or "–"

    @admin.display(description=_("sections"))
    def shown_sections(self, receipt: Receipt) -> SafeString:
        return as_json(receipt.sections)

    @admin.display(description=_("recalled"))
    def shown_recalled(self, receipt: Receipt) -> SafeString:
        return as_json(receipt.recalled)

    @admin.display(description=_("near misses"))
    def shown_near_misses(self, receipt: Receipt) -> SafeString:
        return as_json(receipt.near_misses)

    @admin.display(description=_("prompt"))
    def shown_prompt(self, receipt: Receipt) -> SafeString:
        return as_json(receipt.prompt)
