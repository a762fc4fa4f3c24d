"""Coming back with code and password, and making a browser forget who used it."""

from __future__ import annotations

from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from experiments.access import ParticipantRef, forget, remember
from experiments.models import FailedReturn, Participant, ReturnKey
from experiments.models.returning import buckets
from experiments.participants import message
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope

LONGEST_CODE = 20
LONGEST_PASSWORD = 200


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def come_back(request: HttpRequest) -> HttpResponse:
    """Code and password. A wrong one of either gets the same answer, and takes as long."""
    if request.method != "POST":
        return render(request, "journey/return.html", {})
    code = request.POST.get("code", "")[:LONGEST_CODE]
    password = request.POST.get("password", "")[:LONGEST_PASSWORD]
    wall = wall_now()
    counted = buckets(code=code, address=request.META.get("REMOTE_ADDR", ""))
    if FailedReturn.objects.blocked(counted, wall=wall):
        text = _("That was tried too often. Please wait a quarter of an hour.")
        return render(request, "journey/return.html", {"error": text, "given": code}, status=429)
    who = _authenticated(code, password)
    if who is None:
        FailedReturn.objects.note(counted, wall=wall)
        text = _("Code and password don't belong together, or no password was set.")
        return render(request, "journey/return.html", {"error": text, "given": code}, status=400)
    FailedReturn.objects.clear(counted)
    response = redirect("journey:onward")
    remember(response, who)
    return response


def _authenticated(code: str, password: str) -> ParticipantRef | None:
    candidates = ReturnKey.objects.candidates(code)
    for candidate in candidates:
        with lab_scope(candidate.lab_id):
            participant = Participant.objects.filter(
                lab_id=candidate.lab_id, public_id=candidate.participant
            ).first()
            if participant is not None and participant.has_password(password):
                return ParticipantRef(candidate.lab_id, participant.public_id)
    if not candidates:
        make_password(password)  # what a wrong password would have taken
    return None


@never_cache
@require_POST
def forget_browser(request: HttpRequest) -> HttpResponse:
    """For a browser that others use too: it no longer knows who took part."""
    response = message(
        request,
        title=_("This browser has forgotten you"),
        text=_("You come back by your link, or with your participant code and password."),
        link_url=reverse("journey:return"),
        link_text=_("Come back with your code"),
    )
    forget(response)
    return response
