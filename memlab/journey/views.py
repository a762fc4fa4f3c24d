"""The participant's way: link, information, consent, home, conversation, and what comes after."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat import sessions
from chat.sessions import StageNotOpen
from experiments.access import ParticipantRef, recognise, remember
from experiments.enums import AllocationTime, SessionState, StudyStatus
from experiments.models import EntryLink, Participant, Session, Study
from experiments.participants import for_participant, message, paragraphs
from experiments.schedule import Slot, Standing
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    """The bare address: participants go home, others learn where they are."""
    if recognise(request.COOKIES) is not None:
        return redirect("journey:home")
    return message(
        request,
        title="Memlab",
        text=_("Participants come here by the link that their study gave them."),
        link_url=reverse("admin:index"),
        link_text=_("For research staff"),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An open link: information first; whoever goes on becomes a participant.

    The same browser coming back is the same participant.
    """
    link = EntryLink.objects.find(token)
    if link is None:
        raise Http404
    with lab_scope(link.lab_id):
        study = get_object_or_404(Study, lab_id=link.lab_id, pk=link.study_id)
        with translation.override(study.language):
            if _known(request, link) is not None:
                return redirect("journey:home")
            if not _admits(study, test_mode=link.test_mode):
                return message(
                    request,
                    title=_("This study is not open"),
                    text=_("It takes no new participants at the moment."),
                    study=study,
                    status=403,
                )
            if request.method != "POST":
                context = {"study": study, "document": paragraphs(study.information)}
                return render(request, "journey/information.html", context)
            participant = Participant.objects.create(study=study, test_mode=link.test_mode)
            response = redirect("journey:consent")
            remember(response, ParticipantRef(link.lab_id, participant.public_id))
            return response


def _known(request: HttpRequest, link: EntryLink) -> Participant | None:
    owner = recognise(request.COOKIES)
    if owner is None or owner.lab_id != link.lab_id:
        return None
    return Participant.objects.filter(
        public_id=owner.participant, study_id=link.study_id, test_mode=link.test_mode
    ).first()


def _admits(study: Study, *, test_mode: bool) -> bool:
    """Real participants come to an open study; test runs also while it is being made."""
    if test_mode:
        return study.status not in (StudyStatus.CLOSED, StudyStatus.ARCHIVED)
    return study.status == StudyStatus.OPEN


@require_http_methods(["GET", "HEAD", "POST"])
@for_participant
def consent(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Agree, which pins the study's version. Repeating it changes nothing."""
    if participant.consented_at is not None:
        return redirect("journey:home")
    context: dict[str, Any] = {
        "study": participant.study,
        "document": paragraphs(participant.study.consent),
    }
    if request.method != "POST":
        return render(request, "journey/consent.html", context)
    if request.POST.get("agree") != "yes":
        context["error"] = _("Please tick the box if you agree to take part.")
        return render(request, "journey/consent.html", context, status=400)
    wall = wall_now()
    participant.give_consent(wall=wall)
    assert participant.version is not None
    if participant.version.configuration.allocation_time is AllocationTime.CONSENT:
        sessions.allocate(participant, now=participant.study_time(wall))
    return redirect("journey:home")


@require_safe
@for_participant
def home(request: HttpRequest, participant: Participant) -> HttpResponse:
    """What is open, what comes when, what is done."""
    if participant.consented_at is None:
        return redirect("journey:consent")
    now = participant.study_time(wall_now())
    context = {
        "study": participant.study,
        "code": participant.code,
        "stages": [_row(slot) for slot in sessions.schedule_of(participant, now=now)],
        "test_mode": participant.test_mode,
        "study_now": now,
    }
    return render(request, "journey/home.html", context)


def _row(slot: Slot) -> dict[str, Any]:
    return {
        "number": slot.stage.number,
        "title": slot.stage.title,
        "state": str(slot.standing),
        "opens_at": slot.opens_at,
        "closes_at": slot.closes_at,
        "minutes": None if slot.stage.maximum_minutes is None else int(slot.stage.maximum_minutes),
        "url": reverse("journey:stage", args=[slot.stage.key]),
    }


@require_safe
@for_participant
def stage(request: HttpRequest, participant: Participant, key: str) -> HttpResponse:
    """Enter a stage's conversation, or go on with it."""
    if participant.consented_at is None:
        return redirect("journey:consent")
    try:
        entered = sessions.enter_stage(participant, key, wall=wall_now())
    except StageNotOpen as refusal:
        return _not_open(request, participant, refusal.standing)
    if entered.session.state in (SessionState.OPEN, SessionState.CLOSING):
        return redirect("chat:conversation", entered.session.id)
    return redirect("journey:after", entered.session.id)


def _not_open(request: HttpRequest, participant: Participant, standing: Standing) -> HttpResponse:
    texts = {
        Standing.LATER: _("This part opens later. The overview says when."),
        Standing.MISSED: _("The time for this part is over. The overview shows what comes next."),
    }
    return message(
        request,
        title=_("Not open now"),
        text=texts.get(standing, texts[Standing.LATER]),
        study=participant.study,
        link_url=reverse("journey:home"),
        link_text=_("To the overview"),
        status=409,
    )


@require_safe
@for_participant
def after(request: HttpRequest, participant: Participant, session_id: UUID) -> HttpResponse:
    """What follows a conversation."""
    session = get_object_or_404(
        Session.objects.select_for_update(),
        lab_id=participant.lab_id,
        pk=session_id,
        participant=participant,
    )
    if session.state in (SessionState.OPEN, SessionState.CLOSING):
        return redirect("chat:conversation", session.id)
    sessions.complete(session)
    now = participant.study_time(wall_now())
    waiting = (Standing.OPEN, Standing.LATER, Standing.IN_PROGRESS)
    ahead = [s for s in sessions.schedule_of(participant, now=now) if s.standing in waiting]
    following = {"title": ahead[0].stage.title, "opens_at": ahead[0].opens_at} if ahead else None
    context = {
        "study": participant.study,
        "code": participant.code,
        "next_stage": following,
        "study_over": not ahead,
        "home_url": reverse("journey:home"),
    }
    return render(request, "journey/finished.html", context)


@require_POST
@for_participant
def skip(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Let days pass in a test run."""
    days = request.POST.get("skip_days", "")
    if not days.isdecimal() or not 1 <= int(days) <= 365:
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
        study=participant.study,
        link_url=reverse("journey:home"),
        link_text=_("To the overview"),
        status=400,
    )
