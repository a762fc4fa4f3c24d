"""A page of each participant: extend a window."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import formats
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminSplitDateTimeWidget,
    UnfoldAdminTextInputWidget,
)

from experiments.admin.participant import ParticipantAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, ParticipantState
from experiments.models import Participant
from experiments.rights import Area, Right, Viewer
from experiments.schedule import Slot
from memlab.core.clock import wall_now
from memlab.journey import stages
from memlab.journey.extensions import extend, extendable


class ExtensionForm(forms.Form):
    """Until a moment in the participant's zone, or by so many hours."""

    stage = forms.ChoiceField(label=_("Stage"), widget=UnfoldAdminSelectWidget)
    until = forms.SplitDateTimeField(
        label=_("Until"), required=False, widget=UnfoldAdminSplitDateTimeWidget
    )
    hours = forms.IntegerField(
        label=_("or by so many hours"),
        required=False,
        min_value=1,
        max_value=24 * 90,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("From the end of the window, or from now if it has passed."),
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Kept with the extension; nothing about a person's health or the like."),
    )

    def __init__(self, slots: list[Slot], *, zone: str, now: datetime, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.zone, self.now = ZoneInfo(zone), now
        self.ends = {slot.stage.key: slot.closes_at for slot in slots}
        self.fields["stage"].choices = [(s.stage.key, self._told(s)) for s in slots]  # type: ignore[attr-defined]
        self.fields["until"].help_text = _now("In the participant's zone, %(zone)s.") % {
            "zone": zone
        }

    def _told(self, slot: Slot) -> str:
        assert slot.closes_at is not None
        end = formats.date_format(slot.closes_at.astimezone(self.zone), "DATETIME_FORMAT")
        return _now("%(stage)s: until %(end)s") % {"stage": slot.stage.title, "end": end}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        until, hours = given.get("until"), given.get("hours")
        if not self.errors and (until is None) == (hours is None):
            raise ValidationError(_now("Say either until when or by how many hours."))
        return given

    def chosen(self) -> datetime:
        """The new end, in study time."""
        until: datetime | None = self.cleaned_data["until"]
        if until is not None:
            return until.replace(tzinfo=self.zone)
        end = self.ends[self.cleaned_data["stage"]]
        assert end is not None
        hours: int = self.cleaned_data["hours"]
        return max(end, self.now) + timedelta(hours=hours)


def _extend(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    wall = wall_now()
    slots = extendable(stages.follow(participant, wall=wall))
    if not slots:
        return people.confirm(
            request,
            participant,
            title=_now("Extend a window"),
            lead=_now(
                "There is no window to extend: only one that has an end can be, and that is "
                "coming, open, begun, or missed before any later stage was begun."
            ),
            button=None,
        )
    form = ExtensionForm(
        slots,
        zone=participant.zone,
        now=participant.study_time(wall),
        data=request.POST or None,
    )
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                made = extend(
                    participant,
                    form.cleaned_data["stage"],
                    until=form.chosen(),
                    reason=form.cleaned_data["reason"],
                    user_id=request.user.pk,
                    wall=wall,
                )
        except ValidationError as error:
            form.add_error(None, error)
        else:
            people.record(
                request,
                AuditAction.EXTEND_WINDOW,
                participant,
                stage=made.stage_key,
                until=made.until.isoformat(),
            )
            messages.success(request, _now("Extended."))
            return redirect(people.change_url(participant))
    return people.form_page(
        request,
        participant,
        title=_now("Extend a window"),
        form=form,
        button=_now("Extend"),
        lead=_now(
            "The end is put off for this participant alone, and it is never shortened. A stage "
            "that was missed opens again. It is a deviation from the protocol and stands in "
            "its log."
        ),
    )


def _can_extend(viewer: Viewer, participant: Participant) -> bool:
    going_on = (ParticipantState.ACTIVE, ParticipantState.DROPPED_OUT)
    return (
        viewer.may(Area.PEOPLE, Right.CHANGE)
        and participant.state in going_on
        and participant.version_id is not None
    )


ParticipantAdmin.pages.append(
    ObjectPage(
        slug="extend",
        title=_("Extend a window"),
        icon="more_time",
        view=_extend,
        shown=_can_extend,
    )
)
