"""The page of somebody whose participation is paused: the card, whom to reach, and what happens."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from chat.models import AdverseEvent
from chat.safety.card import card_of
from experiments.models import Participant
from experiments.participants import for_participant
from memlab.journey import overview, way


@require_safe
@for_participant
def paused(request: HttpRequest, participant: Participant) -> HttpResponse:
    """What they read until staff let them go on; then it leads on. The card is there if anything
    was noticed, whatever the pause is for."""
    if participant.paused_at is None or participant.state in way.ENDED:
        return redirect("journey:onward")
    noticed = AdverseEvent.objects.with_card().filter(participant=participant)
    study, version = participant.study, participant.version
    rules = study.safety_rules() if version is None else version.configuration.safety
    context = {
        "study": participant.shown_study,
        "card": card_of(rules, language=participant.shown_study.language, paused=True),
        "noticed": noticed.exists(),
        "unread": overview.unread(participant),
    }
    return render(request, "journey/paused.html", context)
