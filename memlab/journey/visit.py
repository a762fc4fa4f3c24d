"""A participant's visit to a stage: in, through the conversation, and out again."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_safe

from chat import sessions
from chat.sessions import StageNotOpen
from experiments.enums import Moment, SessionState
from experiments.models import Participant, Payment, Session
from experiments.participants import for_participant, message
from experiments.schedule import Slot, Standing
from memlab.core.clock import wall_now
from memlab.journey import codes, overview, stages, timetable, way
from questionnaires import responses


@require_safe
@for_participant
def onward(request: HttpRequest, participant: Participant) -> HttpResponse:
    """To where the participant belongs now."""
    return redirect(way.next_page(participant, wall=wall_now()))


@require_GET
@for_participant
def stage(request: HttpRequest, participant: Participant, key: str) -> HttpResponse:
    """Begin a stage, or go on with it: what is asked before it, then its conversation."""
    wall = wall_now()
    slots = stages.follow(participant, wall=wall)
    participant.refresh_from_db()
    outside = way.find_outside(participant, wall=wall)
    if outside is not None:
        return redirect(outside.url())
    slot = next((slot for slot in slots if slot.stage.key == key), None)
    begun = next((slot for slot in slots if slot.standing is Standing.IN_PROGRESS), None)
    if slot is None or slot.standing not in (Standing.OPEN, Standing.IN_PROGRESS):
        return _not_open(request, participant, slot)
    if begun is not None and begun is not slot:
        return redirect("journey:onward")  # first what was begun
    if not participant.sessions.filter(stage_key=key).exists():
        response = responses.next_open(participant, Moment.BEFORE, key, wall=wall)
        if response is not None:
            return redirect("questionnaires:answer", response.pk)
    try:
        entered = sessions.enter_stage(participant, key, wall=wall)
    except StageNotOpen:
        return _not_open(request, participant, slot)
    return _to_session(entered.session)


def _to_session(session: Session) -> HttpResponse:
    if session.state in (SessionState.OPEN, SessionState.CLOSING):
        return redirect("chat:conversation", session.pk)
    return redirect("journey:after", session.pk)


def _not_open(request: HttpRequest, participant: Participant, slot: Slot | None) -> HttpResponse:
    """Why a stage can't be entered; one that is done has a page of its own."""
    standing = Standing.LATER if slot is None else slot.standing
    if slot is not None and standing is Standing.DONE:
        return redirect("journey:done", slot.stage.key)
    text = _("The time for this part is over. The overview shows what comes next.")
    if standing is Standing.LATER:
        text = _("This part opens later. The overview says when.")
    return message(
        request,
        title=_("Not open now"),
        text=text,
        study=participant.shown_study,
        link_url=reverse("journey:home"),
        link_text=_("To the overview"),
        status=409,
    )


@require_safe
@for_participant
def after(request: HttpRequest, participant: Participant, session_id: UUID) -> HttpResponse:
    """What follows a conversation: what is asked after it, then the stage is complete."""
    session = get_object_or_404(
        Session, lab_id=participant.lab_id, pk=session_id, participant=participant
    )
    if session.state in (SessionState.OPEN, SessionState.CLOSING):
        return redirect("chat:conversation", session.pk)
    wall = wall_now()
    outside = way.find_outside(participant, wall=wall)
    if session.state == SessionState.ENDED and outside is None:
        stages.follow(participant, wall=wall)  # what wasn't finished in time expires here
        session.refresh_from_db()
    if session.state == SessionState.ENDED and outside is None:
        response = responses.next_open(participant, Moment.AFTER, session.stage_key, wall=wall)
        if response is not None:
            return redirect("questionnaires:answer", response.pk)
        stages.complete_stage(session, wall=wall)
    return redirect("journey:done", session.stage_key)


@require_safe
@for_participant
def done(request: HttpRequest, participant: Participant, key: str) -> HttpResponse:
    """That a stage is complete, what comes next, and its code where it has one of its own."""
    wall = wall_now()
    session = participant.sessions.filter(stage_key=key).first()
    if session is None or session.state != SessionState.COMPLETE:
        return redirect("journey:onward")
    code = codes.of_stage(participant, key, wall=wall)
    over = participant.state in way.ENDED
    if over and code is None:
        return redirect("journey:onward")
    now = participant.study_time(wall)
    slots = timetable.stages_of(participant, now=now)
    rows = overview.stage_rows(participant, slots, now=now)
    payment = Payment.objects.filter(participant=participant, stage_key=key).first()
    context = {
        "study": participant.shown_study,
        "stage": session.stage,
        "code": participant.code,
        "completion": code,
        "next": None if over else overview.next_row(rows),
        "study_over": over,
        "done": sum(row.state == "done" for row in rows),
        "stages": rows,
        "payment": "" if payment is None else overview.amount(payment.amount, payment.currency),
        "zone": participant.zone,
    }
    return render(request, "journey/done.html", context)
