"""Retained items in the back office, and each participant's working set and archive to download."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from experiments import architectures
from experiments.admin.participant import ParticipantAdmin
from experiments.back_office import EvidenceAdmin, ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.models import Participant
from experiments.parameters import Value
from experiments.rights import Area, Viewer, viewer_of
from memlab.core.clock import wall_now
from memory import exports
from memory.admin.rows import as_json
from memory.enums import Shelf
from memory.exports import RetainedExport
from memory.models import ConsolidationRun, RetainedItem
from memory.models.retention_rule import Point, Retention

MOST_LISTED = 200
#: What an arm has that keeps items by their score, be it ours or a lab's own.
NEEDED = {"archive_threshold", "rate", "time_unit", "context_budget", "rehearse_within"}


@admin.register(RetainedItem)
class RetainedItemAdmin(EvidenceAdmin):
    menu_position, icon = 66, "inventory_2"
    list_display = [
        "excerpt",
        "participant",
        "state_label",
        "rounded_importance",
        "hits",
        "anchor",
        "archive_at",
        "archive_turn",
        "archived_at",
    ]
    list_filter = ["state", "participant__study", "stage_key"]
    list_select_related = ["participant"]
    search_fields = ["text", "participant__code"]
    ordering = ["-encoded_at"]
    fields = [
        "participant",
        "stage_key",
        "session_number",
        "text",
        "filed_under",
        "state",
        "importance",
        "hits",
        "encoded_at",
        "anchor",
        "anchor_turn",
        "archive_at",
        "archive_turn",
        "archived_at",
        "rehearsals",
        "rehearsed_at",
        "embedder",
        "sources",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[RetainedItem]:
        return super().get_queryset(request).defer("vector", "words")

    @admin.display(description=_("text"), ordering="text")
    def excerpt(self, item: RetainedItem) -> str:
        return Truncator(item.text).chars(80)

    @display(
        description=_("state"), ordering="state", label={"working": "success", "archived": "info"}
    )
    def state_label(self, item: RetainedItem) -> tuple[str, str]:
        return item.state, item.get_state_display()

    @admin.display(description=_("importance"), ordering="importance")
    def rounded_importance(self, item: RetainedItem) -> str:
        return f"{item.importance:.2f}"

    @admin.display(description=_("keywords"))
    def filed_under(self, item: RetainedItem) -> str:
        return ", ".join(item.keywords) or "–"

    @admin.display(description=_("messages"))
    def sources(self, item: RetainedItem) -> SafeString:
        return as_json([str(message) for message in item.message_ids])


def values_of(participant: Participant) -> dict[str, Value] | None:
    """The complete parameters of a participant's arm, if it retains by score; else None."""
    arm = participant.arm()
    if arm is None:
        return None
    values = architectures.validated_parameters(arm.architecture, arm.parameters)
    return values if values.keys() >= NEEDED else None


def export_of(
    participant: Participant, values: Mapping[str, Value], now: datetime
) -> RetainedExport:
    """A participant's items at ``now`` (study time), by the parameters of their arm."""
    assert participant.version is not None, "Nobody is in an arm without a version."
    return RetainedExport(
        lab_id=participant.lab_id,
        participant_id=participant.pk,
        now=Point(at=now, turn=ConsolidationRun.objects.turns_of(participant.pk)),
        retention=Retention.of(values),
        budget=int(values["context_budget"]),
        language=participant.version.configuration.language,
    )


def _context(export: RetainedExport, soon: float) -> dict[str, Any]:
    """What the page shows: the working set with its scores, what leaves soon, and counts."""
    items = RetainedItem.objects.of_participant(export.participant_id)
    leaving = items.about_to_leave(export.now, within=soon).defer("vector", "words")
    rule = export.retention
    return {
        "items": [
            {"item": item, "score": item.score(retention=rule, now=export.now)}
            for item in exports.at_hand(export)[:MOST_LISTED]
        ],
        "leaving": leaving[:MOST_LISTED],
        "at_hand": items.at_hand(export.now).count(),
        "archived": items.archived_by(export.now).count(),
        "threshold": rule.archive_threshold,
        "in_turns": rule.time_unit == "turns",
        "soon": soon,
    }


def _page(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    values = values_of(participant)
    if values is None:
        raise Http404
    export = export_of(participant, values, participant.study_time(wall_now()))
    if request.method == "POST":
        if not viewer.may(Area.EXPORT):
            raise Http404
        return _download(request, pages, participant, export)
    context = pages.page_context(
        request,
        participant,
        title=_now("Working set of %(code)s") % {"code": participant.code},
        may_download=viewer.may(Area.EXPORT),
        **_context(export, float(values["rehearse_within"])),
    )
    return render(request, "back_office/working_set.html", context)


def _download(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant, export: RetainedExport
) -> HttpResponseBase:
    file = request.POST.get("file")
    if file not in Shelf.values:
        raise Http404
    pages.record(request, AuditAction.EXPORT_MEMORY, participant, file=file)
    if file == Shelf.WORKING:
        name, kind, pieces = "context.md", "text/markdown", exports.stream_context(export)
    else:
        name, kind, pieces = "archive.jsonl", "application/jsonl", exports.stream_archive(export)
    response = StreamingHttpResponse(pieces, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{participant.code}-{name}"'
    return response


def _retains(viewer: Viewer, participant: Participant) -> bool:
    return viewer.sees_arm_of(participant) and values_of(participant) is not None


ParticipantAdmin.pages.append(
    ObjectPage(
        slug="working-set",
        title=_("Working set and archive"),
        icon="inventory_2",
        view=_page,
        shown=_retains,
    )
)
