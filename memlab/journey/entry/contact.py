"""After consent: an address if the study asks for one, and the code to come back with."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from experiments.enums import Exclusion, IdentifierKind, ParticipantState
from experiments.models import Identifier, Identity, Participant, Tombstone
from experiments.participants import for_participant
from memlab.core.clock import wall_now
from memlab.journey.entry import admission, steps

LONGEST_ADDRESS = 254  # RFC 5321
LONGEST_PASSWORD = 200


@require_http_methods(["GET", "HEAD", "POST"])
@for_participant
def contact(request: HttpRequest, participant: Participant) -> HttpResponse:
    """An e-mail address, or none: it is voluntary, and kept apart from everything else."""
    if not _is_next(participant, "contact"):
        return redirect("journey:onward")
    context = {"study": participant.shown_study, "given": "", "error": ""}
    if request.method != "POST":
        return render(request, "journey/contact.html", context)
    given = "" if "without" in request.POST else request.POST.get("email", "").strip()
    if given and not _is_address(given):
        context |= {"given": given, "error": _("This is no e-mail address. Please check it.")}
        return render(request, "journey/contact.html", context, status=400)
    held = participant.hold()
    if _is_next(held, "contact"):
        if given:
            _keep(held, Identity(IdentifierKind.EMAIL, given))
        held.asked_for_contact(wall=wall_now())
    return redirect("journey:onward")


def _is_address(given: str) -> bool:
    try:
        validate_email(given)
    except ValidationError:
        return False
    return len(given) <= LONGEST_ADDRESS


def _keep(participant: Participant, identity: Identity) -> None:
    """Store the address, unless it says that this person can't be in the study after all."""
    if Tombstone.objects.bars(participant.study, [identity]):
        participant.turn_away(ParticipantState.INELIGIBLE, Exclusion.ERASED)
    elif admission.excludes(participant, identity):
        participant.turn_away(ParticipantState.INELIGIBLE, Exclusion.EARLIER)
    else:
        Identifier.objects.keep(participant, identity)


@require_http_methods(["GET", "HEAD", "POST"])
@for_participant
def code(request: HttpRequest, participant: Participant) -> HttpResponse:
    """The participant code, to be noted down, and a password for it if one is wanted."""
    if not _is_next(participant, "code"):
        return redirect("journey:onward")
    assert participant.version is not None
    passwords = participant.version.configuration.entry.passwords
    context: dict[str, Any] = {
        "study": participant.shown_study,
        "code": participant.code,
        "passwords": passwords,
        "errors": [],
        "return_url": request.build_absolute_uri(reverse("journey:return")),
    }
    if request.method != "POST":
        return render(request, "journey/code.html", context)
    password = request.POST.get("password", "") if passwords else ""
    context["errors"] = _troubles(password, request.POST.get("again", "")) if passwords else []
    if context["errors"]:
        return render(request, "journey/code.html", context, status=400)
    held = participant.hold()
    if _is_next(held, "code"):
        if password:
            held.set_password(password)
        held.saw_code(wall=wall_now())
    return redirect("journey:onward")


def _troubles(password: str, again: str) -> list[str]:
    """What is wrong with a new password; an empty one is none at all."""
    if not password and not again:
        return []
    if password != again:
        return [_("The two passwords differ.")]
    if len(password) > LONGEST_PASSWORD:
        return [_("At most %(number)s characters.") % {"number": LONGEST_PASSWORD}]
    try:
        validate_password(password)
    except ValidationError as error:
        return error.messages
    return []


def _is_next(participant: Participant, page: str) -> bool:
    return steps.next_page(participant) == reverse(f"journey:{page}")
