"""What staff do for a participant's safety, on the participant's page: report an event, pause, let
them go on, end the conversation."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from chat.safety import events, pauses
from chat.safety.enums import Category, Severity, Source
from experiments.admin.participant import ParticipantAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, SessionState
from experiments.models import Participant
from experiments.rights import Area, Right, Viewer
from memlab.core.clock import wall_now


class ReportForm(forms.Form):
    """An adverse event that staff learned of."""

    category = forms.ChoiceField(
        label=_("What it is about"),
        choices=[each for each in Category.choices if each[0] != Category.FILTERED],
        widget=UnfoldAdminSelectWidget,
    )
    severity = forms.ChoiceField(
        label=_("Severity"), choices=Severity.choices, widget=UnfoldAdminSelectWidget
    )
    note = forms.CharField(
        label=_("Note"),
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text=_("What happened and what was done. It is kept with the event."),
    )


def _report(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    form = ReportForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return people.form_page(
            request,
            participant,
            title=_now("Report an adverse event"),
            lead=_now(
                "For what you learned outside of the conversations. The participant sees nothing "
                "of it."
            ),
            form=form,
            button=_now("Report"),
        )
    event = events.report(
        participant,
        Source.STAFF,
        category=Category(form.cleaned_data["category"]),
        severity=Severity(form.cleaned_data["severity"]),
        note=form.cleaned_data["note"],
        wall=wall_now(),
    )
    people.record(request, AuditAction.ADD, event)
    messages.success(request, _now("Reported."))
    return redirect(reverse("admin:chat_adverseevent_change", args=[event.pk]))


def _pause(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    if request.method != "POST":
        return people.confirm(
            request,
            participant,
            title=_now("Pause the participant"),
            lead=_now(
                "Nothing can be said until you let them go on. Replies that are being made are "
                "withheld, and the conversation's time stands still."
            ),
            button=_now("Pause"),
        )
    pauses.pause(participant, wall=wall_now(), user_id=request.user.pk)
    people.record(request, AuditAction.PAUSE_PARTICIPANT, participant)
    messages.success(request, _now("Paused."))
    return redirect(people.change_url(participant))


def _resume(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    if request.method != "POST":
        return people.confirm(
            request,
            participant,
            title=_now("Let the participant go on"),
            lead=_now(
                "The conversation's time goes on from where it stood still. A stage that hasn't "
                "begun may have passed meanwhile: extend its window if that is so."
            ),
            button=_now("Let them go on"),
        )
    if pauses.resume(participant, wall=wall_now(), user_id=request.user.pk):
        people.record(request, AuditAction.RESUME_PARTICIPANT, participant)
    messages.success(request, _now("The participant can go on."))
    return redirect(people.change_url(participant))


def _end(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    if request.method != "POST":
        return people.confirm(
            request,
            participant,
            title=_now("End the conversation"),
            lead=_now(
                "It can't be taken up again. What was said is kept, and the participant stays "
                "paused until you let them go on."
            ),
            button=_now("End it"),
            danger=True,
        )
    ended = pauses.end_sessions(participant, wall=wall_now(), user_id=request.user.pk)
    people.record(request, AuditAction.CHANGE, participant, ended=ended)
    messages.success(request, _now("The conversation is over."))
    return redirect(people.change_url(participant))


def _may_change(viewer: Viewer, participant: Participant) -> bool:
    return viewer.may(Area.PEOPLE, Right.CHANGE)


def _can_be_paused(viewer: Viewer, participant: Participant) -> bool:
    return _may_change(viewer, participant) and participant.paused_at is None


def _is_paused(viewer: Viewer, participant: Participant) -> bool:
    return _may_change(viewer, participant) and participant.paused_at is not None


def _is_paused_within(viewer: Viewer, participant: Participant) -> bool:
    talking = participant.sessions.filter(state=SessionState.OPEN)
    return _is_paused(viewer, participant) and talking.exists()


ParticipantAdmin.pages[0:0] = [
    ObjectPage(
        slug="resume",
        title=_("Let them go on"),
        icon="play_arrow",
        view=_resume,
        shown=_is_paused,
        variant=ActionVariant.PRIMARY,
    ),
    ObjectPage(
        slug="end",
        title=_("End the conversation"),
        icon="stop_circle",
        view=_end,
        shown=_is_paused_within,
        variant=ActionVariant.DANGER,
    ),
]
ParticipantAdmin.pages += [
    ObjectPage(
        slug="report",
        title=_("Report an adverse event"),
        icon="emergency",
        view=_report,
        shown=_may_change,
        rare=True,
    ),
    ObjectPage(
        slug="pause", title=_("Pause"), icon="pause", view=_pause, shown=_can_be_paused, rare=True
    ),
]
