"""The end of a participation, however it came, and the debriefing."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from experiments.enums import ConsentKind, DebriefingHold, Moment, ParticipantState
from experiments.models import DebriefingView, Participant
from experiments.models.debriefing import answer_debriefing
from experiments.participants import for_participant, paragraphs
from experiments.rules import DebriefingRules
from memlab.core.clock import wall_now
from memlab.journey import codes, debriefing, overview, way
from questionnaires import responses


@require_safe
@for_participant
def end(request: HttpRequest, participant: Participant) -> HttpResponse:
    """That the participation is over, with the code that belongs to how it ended."""
    if participant.state not in way.ENDED:
        return redirect("journey:onward")
    wall = wall_now()
    rules = debriefing.rules_of(participant)
    state = ParticipantState(participant.state)
    context = {
        "study": participant.shown_study,
        "self_access": participant.study.self_access,
        "code": participant.code,
        "state": state,
        **_told(state),
        "completion": codes.of_study(participant, wall=wall),
        "given_codes": codes.given(participant, wall=wall),
        "earnings": overview.earnings(participant),
        "unread": overview.unread(participant),
        "debriefing": _debriefing(participant, rules),
        "test_mode": participant.test_mode,
        "study_now": participant.study_time(wall),
    }
    return render(request, "journey/end.html", context)


def _told(state: ParticipantState) -> dict[str, str]:
    """Title and text of the page of an end."""
    titles = {
        ParticipantState.COMPLETE: (
            _("Thank you for taking part"),
            _("You have completed the whole study. Everything is stored."),
        ),
        ParticipantState.DROPPED_OUT: (
            _("The study is over for you"),
            _(
                "Not every part could be completed in time. What you did is stored, and we thank "
                "you for it."
            ),
        ),
        ParticipantState.WITHDRAWN: (
            _("You no longer take part"),
            _("Nothing more is asked of you. Thank you for the time that you gave."),
        ),
        ParticipantState.DECLINED: (
            _("You decided not to take part"),
            _("That is all right. Nothing more is asked of you."),
        ),
    }
    other = (
        _("This study isn't the right one for you"),
        _("Thank you for your interest. By your answers you can't take part in this study."),
    )
    title, text = titles.get(state, other)
    return {"title": title, "text": text}


def _debriefing(participant: Participant, rules: DebriefingRules | None) -> dict[str, Any] | None:
    """What the page says of the debriefing: to be read now, or from when on."""
    if rules is None:
        return None
    wall = wall_now()
    return {
        "open": debriefing.may_read(participant, wall=wall),
        "read": DebriefingView.objects.filter(participant=participant).exists(),
        "from": debriefing.date_of(rules),
        "cohort": rules.hold is DebriefingHold.COHORT,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@for_participant
def read_debriefing(request: HttpRequest, participant: Participant) -> HttpResponse:
    """The debriefing, after what is asked before it; then whether the data may be used."""
    wall = wall_now()
    rules = debriefing.rules_of(participant)
    if rules is None or not debriefing.may_read(participant, wall=wall):
        return redirect("journey:end")
    if debriefing.asks_first(participant):
        response = responses.next_open(participant, Moment.DEBRIEFING, wall=wall)
        if response is not None:
            return redirect("questionnaires:answer", response.pk)
    now = participant.study_time(wall)
    error = ""
    if request.method == "POST":
        answer = request.POST.get("use", "")
        if rules.consent and answer in ("agree", "refuse"):
            answer_debriefing(participant, agreed=answer == "agree", now=now)
            return redirect("journey:end")
        error = _("Please choose one of the two.")
    if request.method != "HEAD":
        DebriefingView.objects.record(participant, now=now)
    context = {
        "study": participant.shown_study,
        "document": paragraphs(rules.text),
        "statement": paragraphs(rules.consent),
        "answered": participant.consents.filter(kind=ConsentKind.DEBRIEFED).first(),
        "error": error,
    }
    return render(request, "journey/debriefing.html", context, status=400 if error else 200)
