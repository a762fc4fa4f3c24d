"""What participants write to the staff: a list of everything, and the thread on each one's page."""

from __future__ import annotations

from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from experiments.admin.participant import ParticipantAdmin
from experiments.admin.payment import signed_in
from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.models import Participant, StaffMessage
from experiments.models.staff_message import MESSAGE_CHARACTERS
from experiments.rights import Area, Right, viewer_of
from memlab.core.clock import wall_now


@admin.register(StaffMessage)
class StaffMessageAdmin(ReadOnlyAdmin):
    area = Area.TRANSCRIPTS
    menu, menu_position, icon = Menu.PEOPLE, 30, "mail"
    list_display = ["participant", "study", "from_staff", "excerpt", "sent_at", "read_at"]
    list_filter = [
        "from_staff",
        ("read_at", admin.EmptyFieldListFilter),
        "participant__study",
        "participant__test_mode",
    ]
    list_select_related = ["participant__study"]
    search_fields = ["participant__code", "text"]
    ordering = ["-sent_at", "-pk"]
    fields = ["participant", "from_staff", "author", "text", "sent_at", "read_at"]

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, row: StaffMessage) -> str:
        return row.participant.study.title

    @admin.display(description=_("text"))
    def excerpt(self, row: StaffMessage) -> str:
        return row.text if len(row.text) <= 80 else f"{row.text[:79]}…"


class WriteForm(forms.Form):
    """``client_id`` makes a form that is sent twice one message."""

    client_id = forms.UUIDField(widget=forms.HiddenInput)
    text = forms.CharField(
        label=_("Your answer"),
        max_length=MESSAGE_CHARACTERS,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text=_("The participant reads it on their overview, under the study's name."),
    )


def _thread(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    viewer = viewer_of(request)
    writes = viewer is not None and viewer.may(Area.PEOPLE, Right.CHANGE)
    form = WriteForm(request.POST or None, initial={"client_id": uuid4()}) if writes else None
    if request.method == "POST" and form is not None and form.is_valid():
        try:
            StaffMessage.objects.post(
                participant,
                form.cleaned_data["text"],
                client_id=form.cleaned_data["client_id"],
                user_id=signed_in(request),
            )
        except ValidationError as error:
            form.add_error("text", error)
        else:
            people.record(request, AuditAction.WRITE_MESSAGE, participant)
            messages.success(request, _now("Sent."))
            return redirect(people.page_url("messages", participant))
    thread = list(StaffMessage.objects.filter(participant=participant).select_related("author"))
    if writes and request.method == "GET":
        StaffMessage.objects.mark_read(participant, from_staff=False, wall=wall_now())
    return render(
        request,
        "back_office/messages.html",
        people.page_context(
            request,
            participant,
            title=_now("Messages with %(code)s") % {"code": participant.code},
            thread=thread,
            form=form,
            button=_now("Send"),
        ),
    )


ParticipantAdmin.pages.append(
    ObjectPage(
        slug="messages",
        title=_("Messages"),
        icon="mail",
        view=_thread,
        shown=lambda viewer, participant: viewer.may(Area.TRANSCRIPTS),
    )
)
