"""What a participant and the staff write to each other, outside of the study's conversations."""

from __future__ import annotations

from uuid import UUID, uuid4

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from chat.safety import events
from chat.safety.enums import Source
from chat.safety.hotlines import Hotline, parsed
from chat.safety.screen import screened
from experiments.models import Participant, StaffMessage
from experiments.models.staff_message import MESSAGE_CHARACTERS
from experiments.participants import for_participant
from memlab.core.clock import wall_now

URGENT = "help"  # in the address: where to find help comes first


@require_http_methods(["GET", "HEAD", "POST"])
@for_participant
def messages(request: HttpRequest, participant: Participant) -> HttpResponse:
    """The thread with the staff, open to everybody who has a code, whatever their state."""
    text, error = "", ""
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            urgent = _keep(participant, text, client_id=_client_id(request))
        except ValidationError as refusal:
            error = " ".join(refusal.messages)
        else:
            page = reverse("journey:messages")
            return redirect(f"{page}?{URGENT}" if urgent else page)
    thread = list(StaffMessage.objects.filter(participant=participant))
    if request.method == "GET":
        StaffMessage.objects.mark_read(participant, from_staff=True, wall=wall_now())
    context = {
        "study": participant.shown_study,
        "thread": thread,
        "text": text,
        "error": error,
        "client_id": uuid4(),
        "limit": MESSAGE_CHARACTERS,
        "hotlines": hotlines_of(participant),
        "urgent": URGENT in request.GET,
    }
    return render(request, "journey/messages.html", context, status=400 if error else 200)


def hotlines_of(participant: Participant) -> tuple[Hotline, ...]:
    """The study's hotlines, as the participant's version or else the study itself names them."""
    version = participant.version
    study = participant.study
    written = study.hotlines if version is None else version.configuration.safety.hotlines
    return parsed(written)[0]


def _keep(participant: Participant, text: str, *, client_id: UUID) -> bool:
    """Keep what the participant writes, and have the risk screen look at it, in one transaction:
    whether it noticed something. Staff may read it late, the safety contact is told at once."""
    message, new = StaffMessage.objects.post(participant, text, client_id=client_id)
    risk = screened(message.text)
    if risk is not None and new:
        events.report(
            participant,
            Source.RULE,
            category=risk.category,
            severity=risk.severity,
            note=_("In a message to the staff, by the rule %(rule)s.") % {"rule": risk.rule},
            wall=wall_now(),
        )
    return risk is not None


def _client_id(request: HttpRequest) -> UUID:
    """The form's own number, by which sending it twice is noticed. Without a readable one the
    message is taken as new: it is never lost over it."""
    try:
        return UUID(request.POST.get("client_id", ""))
    except ValueError:
        return uuid4()
