"""The participant's overview, and the days that a test run skips."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from experiments.models import Participant
from experiments.participants import for_participant, message
from memlab.core.clock import wall_now
from memlab.journey import codes, overview, stages, way


@require_safe
@for_participant
def home(request: HttpRequest, participant: Participant) -> HttpResponse:
    """What is open, what comes when, what is done."""
    wall = wall_now()
    slots = stages.follow(participant, wall=wall)
    participant.refresh_from_db()
    outside = way.find_outside(participant, wall=wall)
    if outside is not None:
        return redirect(outside.url())
    now = participant.study_time(wall)
    rows = overview.stage_rows(participant, slots, now=now)
    context: dict[str, Any] = {
        "study": participant.shown_study,
        "self_access": participant.study.self_access,
        "code": participant.code,
        "stages": rows,
        "next": overview.next_row(rows),
        "done": sum(row.state == "done" for row in rows),
        "earnings": overview.earnings(participant),
        "given_codes": codes.given(participant, wall=wall),
        "unread": overview.unread(participant),
        "zone": participant.zone,
        "times_shown": any(map(overview.shows_a_time, rows)),
        "test_mode": participant.test_mode,
        "study_now": now,
    }
    return render(request, "journey/home.html", context)


@require_POST
@for_participant
def skip(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Let days pass in a test run."""
    days = request.POST.get("skip_days", "")
    if not days.isdecimal() or len(days) > 3 or not 1 <= int(days) <= 365:
        return _refused(request, participant, _("Skip between 1 and 365 days."))
    locked = Participant.objects.select_for_update().get(pk=participant.pk)
    try:
        locked.skip(timedelta(days=int(days)))
    except ValidationError as error:
        return _refused(request, participant, " ".join(error.messages))
    return redirect("journey:home")


def _refused(request: HttpRequest, participant: Participant, text: str) -> HttpResponse:
    return message(
        request,
        title=_("Not possible"),
        text=text,
        study=participant.shown_study,
        link_url=reverse("journey:home"),
        link_text=_("To the overview"),
        status=400,
    )
