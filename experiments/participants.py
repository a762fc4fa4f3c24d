"""Views for participants: one unit of work each, in their lab's scope and study's language."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Concatenate, ParamSpec
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone, translation
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from experiments.access import recognise
from experiments.models import Participant
from memlab.core.tenancy import lab_scope

Extra = ParamSpec("Extra")
ParticipantView = Callable[Concatenate[HttpRequest, Participant, Extra], HttpResponse]


def for_participant(view: ParticipantView[Extra]) -> Callable[..., HttpResponse]:
    """Call the view with the participant of the request's cookie, inside the lab's scope.

    The scope is around the view, so an exception rolls everything back, and the response is
    rendered before it closes. A browser that fetches ahead, in case somebody might click, gets
    nothing: a page that was never seen must not count as read, nor a stage as begun.
    """

    @wraps(view)
    def inside(request: HttpRequest, *args: Extra.args, **kwargs: Extra.kwargs) -> HttpResponse:
        if request.headers.get("Sec-Purpose", "").startswith("prefetch"):
            return HttpResponse(status=503, headers={"Cache-Control": "no-store"})
        owner = recognise(request.COOKIES)
        if owner is None:
            return message(
                request,
                title=_("Please open your link again"),
                text=_("This browser is not known to the study, or too much time has passed."),
                status=403,
            )
        with lab_scope(owner.lab_id):
            participant = (
                Participant.objects.select_related("study", "version")
                .filter(lab_id=owner.lab_id, public_id=owner.participant)
                .first()
            )
            if participant is None:
                raise Http404
            with translation.override(participant.shown_study.language), _clocks_of(participant):
                try:
                    response = view(request, participant, *args, **kwargs)
                except Participant.DoesNotExist:  # erased or anonymised while the page was made
                    raise Http404 from None
        add_never_cache_headers(response)
        return response

    return inside


def _clocks_of(participant: Participant) -> AbstractContextManager[None]:
    """Times are told as the participant's clocks show them."""
    return timezone.override(ZoneInfo(participant.zone))


def message(
    request: HttpRequest, *, title: str, text: str, status: int = 200, **context: object
) -> HttpResponse:
    """A page that only says something."""
    page = {"title": title, "text": text, **context}
    return render(request, "journey/message.html", page, status=status)


def paragraphs(text: str) -> list[str]:
    """A document as paragraphs: blank lines part them."""
    return [block.strip() for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
