"""Adverse events: what needs a person, what became of it, and whether the contact was told.

Nothing of it depends on the arm, so blinded staff see and handle all of it.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextareaWidget

from chat.models import AdverseEvent, ModelScreening
from chat.safety import alerts
from chat.safety.enums import AlertState, EventState
from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.back_office.codes import told
from experiments.enums import AuditAction, DeviationKind
from experiments.models import Deviation
from experiments.rights import Area, Right, Viewer
from memlab.core.clock import wall_now


class NoteForm(forms.Form):
    """What was done about an event; it stays with it and is erased with the participant."""

    note = forms.CharField(
        label=_("Note"),
        max_length=2000,
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text=_("What you saw and did. It is kept with the event."),
    )


class ClosingForm(NoteForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["note"].required = True


def _acknowledge(
    request: HttpRequest, events: TenantModelAdmin, event: AdverseEvent
) -> HttpResponseBase:
    form = NoteForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return events.form_page(
            request,
            event,
            title=_now("Acknowledge"),
            lead=_now(
                "You have seen it and look after it. It stays on the list until it is closed."
            ),
            form=form,
            button=_now("Acknowledge"),
        )
    event.acknowledge(wall=wall_now(), note=form.cleaned_data["note"])
    events.record(request, AuditAction.CHANGE, event, state=EventState.ACKNOWLEDGED)
    messages.success(request, _now("Acknowledged."))
    return redirect(events.change_url(event))


def _close(request: HttpRequest, events: TenantModelAdmin, event: AdverseEvent) -> HttpResponseBase:
    form = ClosingForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return events.form_page(
            request,
            event,
            title=_now("Close"),
            lead=_now(
                "Nobody has to do anything about it any more. A paused participant stays paused "
                "until you let them go on, on their own page."
            ),
            form=form,
            button=_now("Close"),
        )
    event.close(wall=wall_now(), note=form.cleaned_data["note"])
    events.record(request, AuditAction.CLOSE_ADVERSE_EVENT, event)
    messages.success(request, _now("Closed."))
    return redirect(events.change_url(event))


def _alert_again(
    request: HttpRequest, events: TenantModelAdmin, event: AdverseEvent
) -> HttpResponseBase:
    if request.method != "POST":
        return events.confirm(
            request,
            event,
            title=_now("Alert again"),
            lead=_now(
                "The safety contact gets an e-mail about this event, perhaps for the second time."
            ),
            button=_now("Alert again"),
        )
    alerts.queue_again(event, wall=wall_now())
    events.record(request, AuditAction.CHANGE, event, alert=AlertState.QUEUED)
    Deviation.objects.record(
        DeviationKind.RESENT,
        study=event.participant.study_id,
        participant=event.participant,
        user_id=request.user.pk,
        event=str(event.pk),
    )
    messages.success(request, _now("Planned. It is sent within a minute."))
    return redirect(events.change_url(event))


def _transcript(
    request: HttpRequest, events: TenantModelAdmin, event: AdverseEvent
) -> HttpResponseBase:
    page = reverse("admin:experiments_session_transcript", args=[event.session_id])
    return redirect(page if event.message is None else f"{page}#message-{event.message.seq}")


def _may_change(viewer: Viewer) -> bool:
    return viewer.may(Area.PEOPLE, Right.CHANGE)


def _to_acknowledge(viewer: Viewer, event: AdverseEvent) -> bool:
    return _may_change(viewer) and event.state == EventState.OPEN


def _to_close(viewer: Viewer, event: AdverseEvent) -> bool:
    return _may_change(viewer) and event.state != EventState.CLOSED


def _untold(viewer: Viewer, event: AdverseEvent) -> bool:
    return _may_change(viewer) and event.alert in (AlertState.UNKNOWN, AlertState.FAILED)


def _has_transcript(viewer: Viewer, event: AdverseEvent) -> bool:
    return viewer.may(Area.TRANSCRIPTS) and event.session_id is not None


@admin.register(AdverseEvent)
class AdverseEventAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 15, "emergency"
    list_display = [
        "recorded_at",
        "participant",
        "study",
        "category",
        "severity_label",
        "source",
        "state_label",
        "alert_label",
    ]
    list_filter = [
        "state",
        "severity",
        "category",
        "source",
        "alert",
        "participant__study",
        "participant__test_mode",
    ]
    list_select_related = ["participant__study"]
    search_fields = ["participant__code", "rule", "note"]
    ordering = ["-recorded_at"]
    fields = [
        "participant",
        "study",
        "session",
        "place",
        "category",
        "severity",
        "source",
        "rule",
        "state",
        "shown_note",
        "occurred_at",
        "recorded_at",
        "acknowledged_at",
        "closed_at",
        "alert",
        "shown_failure",
        "told_at",
    ]
    pages = [
        ObjectPage(
            slug="acknowledge",
            title=_("Acknowledge"),
            icon="visibility",
            view=_acknowledge,
            shown=_to_acknowledge,
            variant=ActionVariant.PRIMARY,
        ),
        ObjectPage(slug="close", title=_("Close"), icon="task_alt", view=_close, shown=_to_close),
        ObjectPage(
            slug="transcript",
            title=_("Transcript"),
            icon="forum",
            view=_transcript,
            shown=_has_transcript,
        ),
        ObjectPage(
            slug="alert",
            title=_("Alert again"),
            icon="mail",
            view=_alert_again,
            shown=_untold,
            variant=ActionVariant.DANGER,
        ),
    ]

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, event: AdverseEvent) -> str:
        return event.participant.study.title

    @admin.display(description=_("message"))
    def place(self, event: AdverseEvent) -> str:
        return "–" if event.message is None else f"{event.message.seq}"

    @admin.display(description=_("note"))
    def shown_note(self, event: AdverseEvent) -> SafeString:
        return format_html("<div class='ml-pre'>{}</div>", event.note or "–")

    @admin.display(description=_("failure of the alert"))
    def shown_failure(self, event: AdverseEvent) -> str:
        return told(event.alert_failure) or "–"

    @display(
        description=_("severity"),
        ordering="severity",
        label={"concern": "info", "serious": "warning", "acute": "danger"},
    )
    def severity_label(self, event: AdverseEvent) -> tuple[str, str]:
        return event.severity, event.get_severity_display()

    @display(
        description=_("state"),
        ordering="state",
        label={"open": "danger", "acknowledged": "warning", "closed": "success"},
    )
    def state_label(self, event: AdverseEvent) -> tuple[str, str]:
        return event.state, event.get_state_display()

    @display(
        description=_("alert"),
        ordering="alert",
        label={"sent": "success", "unknown": "danger", "failed": "danger", "queued": "info"},
    )
    def alert_label(self, event: AdverseEvent) -> tuple[str, str]:
        return event.alert, event.get_alert_display()


@admin.register(ModelScreening)
class ModelScreeningAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 16, "policy"
    list_display = ["participant", "number", "state", "attempts", "shown_failure", "finished_at"]
    list_filter = ["state", "message__session__participant__study"]
    list_select_related = ["message__session__participant"]
    search_fields = ["message__session__participant__code"]
    ordering = ["-pk"]
    fields = ["participant", "number", "state", "attempts", "shown_failure", "finished_at"]

    @admin.display(description=_("participant"))
    def participant(self, row: ModelScreening) -> str:
        return row.message.session.participant.code

    @admin.display(description=_("number"))
    def number(self, row: ModelScreening) -> int:
        return row.message.seq

    @admin.display(description=_("failure"))
    def shown_failure(self, row: ModelScreening) -> str:
        return told(row.failure) or "–"
