"""A participant's questionnaire: its page, the saving of its pages, and the way back to it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from experiments.access import recognise
from experiments.enums import Moment
from experiments.models import Participant
from experiments.participants import for_participant, message, paragraphs
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from questionnaires import external, responses
from questionnaires.enums import ResponseState
from questionnaires.external import BadToken, Errand, ExpiredToken
from questionnaires.models import Response
from questionnaires.responses import NotNow, Overtaken
from questionnaires.surveyjs import compiled
from questionnaires.validation import InvalidAnswers

ONWARD = "journey:onward"


@require_safe
@for_participant
def answer(request: HttpRequest, participant: Participant, response_id: UUID) -> HttpResponse:
    """The questionnaire where it was left; whatever comes next if it is finished."""
    response = get_object_or_404(
        Response.objects.select_related("version"),
        lab_id=participant.lab_id,
        pk=response_id,
        participant=participant,
    )
    if response.state == ResponseState.COMPLETE:
        return redirect(ONWARD)
    try:
        responses.require_answering(participant, response, wall=wall_now())
    except NotNow as refusal:
        return _over(request, participant, str(refusal))
    number, count = responses.place_among(participant, response)
    context: dict[str, Any] = {
        "study": participant.shown_study,
        "heading": heading(Moment(response.moment)),
        "stage_title": _stage_title(participant, response),
        "number": number,
        "count": count,
        "before": number - 1,
    }
    if response.version is None:
        return _external(request, participant, response, context)
    language = participant.shown_study.language
    context["introduction"] = paragraphs(response.content.introduction.told(language))
    context["questionnaire"] = _page(response, language, before=number - 1)
    return render(request, "questionnaires/answer.html", context)


def heading(moment: Moment) -> str:
    """What the page is called: never by the instrument's title, which says what is measured."""
    return {
        Moment.SCREENING: _("A few questions first"),
        Moment.BASELINE: _("Before the first conversation"),
        Moment.BEFORE: _("Before the conversation"),
        Moment.AFTER: _("After the conversation"),
        Moment.DEBRIEFING: _("A few last questions"),
    }[moment]


def _stage_title(participant: Participant, response: Response) -> str:
    if not response.stage_key or participant.version is None:
        return ""
    return str(participant.version.configuration.stage(response.stage_key).title)


def _page(response: Response, language: str, *, before: int) -> dict[str, Any]:
    return {
        "survey": compiled(
            response.content, seed=response.seed, language=language, picture=_picture
        ),
        "answers": response.given(),
        "page": response.page,
        "revision": response.revision,
        "before": before,
        "response": str(response.pk),
        "save_url": reverse("questionnaires:save", args=[response.pk]),
    }


def _picture(language: str, point: int) -> str:
    name = "zh" if language.startswith("zh") else "en"
    return static(f"questionnaires/pictures/closeness-{point}-{name}.svg")


@require_POST
@for_participant
def save(request: HttpRequest, participant: Participant, response_id: UUID) -> HttpResponse:
    """Store one page, sent as JSON {page, revision, seconds, answers}."""
    onward_url = reverse(ONWARD)
    try:
        page, revision, seconds, answers = _sent(request.body)
    except _Unreadable:
        return JsonResponse({"message": _("This page could not be read.")}, status=400)
    try:
        saved = responses.save_page(
            participant,
            response_id,
            page=page,
            revision=revision,
            seconds=seconds,
            answers=answers,
            wall=wall_now(),
        )
    except ObjectDoesNotExist:
        raise Http404 from None
    except InvalidAnswers as invalid:
        return JsonResponse({"errors": invalid.errors}, status=422)
    except Overtaken:
        text = _(
            "These questions were continued in another window or on another device. Load the page "
            "again to go on where you were there; what you filled in here is kept."
        )
        here = reverse("questionnaires:answer", args=[response_id])
        return JsonResponse({"message": text, "reload_url": here}, status=409)
    except NotNow as refusal:
        return JsonResponse({"message": str(refusal), "onward_url": onward_url}, status=403)
    if saved.page is None:
        return JsonResponse({"onward_url": onward_url})
    return JsonResponse({"page": saved.page, "revision": saved.revision})


class _Unreadable(Exception):
    """What was sent is no page."""


def _sent(body: bytes) -> tuple[int, int, float, dict[str, Any]]:
    """The fields of a page. Raises _Unreadable if it is something else."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _Unreadable from error
    if not isinstance(sent, dict):
        raise _Unreadable
    page, revision = sent.get("page"), sent.get("revision")
    seconds, answers = sent.get("seconds"), sent.get("answers")
    if type(page) is not int or type(revision) is not int or not isinstance(answers, dict):
        raise _Unreadable
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise _Unreadable
    return page, revision, float(seconds), answers


def _external(
    request: HttpRequest, participant: Participant, response: Response, context: dict[str, Any]
) -> HttpResponse:
    assert participant.version is not None
    placement = responses.placement_of(participant, response)
    token = external.token(Errand(participant.lab_id, response.pk), wall=wall_now())
    back = request.build_absolute_uri(f"{reverse('questionnaires:returned')}?token={token}")
    address = external.address(
        placement.external_url, token=token, code=participant.code, back=back
    )
    return render(request, "questionnaires/external.html", {**context, "address": address})


@require_safe
def returned(request: HttpRequest) -> HttpResponse:
    """The way back from an external survey: completes the one response that its token names.

    The token is enough, for a survey may come back in another browser than it was left by. If this
    browser belongs to a participant, it must be that response's.
    """
    wall = wall_now()
    try:
        errand = external.errand(_token_of(request), wall=wall)
    except BadToken:
        return _refused(request, _("This address is not complete or was changed."))
    except ExpiredToken:
        return _refused(request, _("This address was valid for some time only, which is over."))
    with lab_scope(errand.lab_id):
        response = (
            Response.objects.select_related("participant__study").filter(pk=errand.response).first()
        )
        if response is None:
            return _refused(request, _("This address leads to nothing any more."))
        with translation.override(response.participant.shown_study.language):
            return _arrived(request, response, wall=wall)


def _token_of(request: HttpRequest) -> str:
    """The token, under our name for it or under the one that 问卷星 keeps it by."""
    return request.GET.get("token") or request.GET.get("sojumpparm", "")


def _arrived(request: HttpRequest, response: Response, *, wall: datetime) -> HttpResponse:
    participant = response.participant
    owner = recognise(request.COOKIES)
    at_home = owner is not None and owner.lab_id == participant.lab_id
    if at_home and owner is not None and owner.participant != participant.public_id:
        return _refused(request, _("This address belongs to another participant."))
    try:
        responses.complete_external(participant, response.pk, wall=wall)
    except (NotNow, Overtaken) as refusal:
        text = str(refusal) or _("This address leads to nothing any more.")
        return _over(request, participant, text)
    if at_home:
        return redirect(ONWARD)
    return message(
        request,
        title=_("Thank you, it is noted"),
        text=_("Please go back to the window in which you began, or open your link again."),
        study=participant.shown_study,
    )


def _over(request: HttpRequest, participant: Participant, text: str) -> HttpResponse:
    return message(
        request,
        title=_("Not possible now"),
        text=text,
        study=participant.shown_study,
        link_url=reverse("journey:home"),
        link_text=_("To the overview"),
        status=409,
    )


def _refused(request: HttpRequest, text: str) -> HttpResponse:
    remedy = _("Please open your link to the study again; it leads to where you were.")
    return message(
        request, title=_("This way back doesn't work"), text=f"{text} {remedy}", status=403
    )
