"""Age gate, information sheet, consents: everything before somebody is in the study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from chat import sessions
from experiments.consents import Statement, asked
from experiments.destinations import destinations
from experiments.enums import AllocationTime, ConsentKind, Exclusion, ParticipantState
from experiments.models import Participant, StudyVersion
from experiments.participants import for_participant, message, paragraphs
from memlab.core.clock import wall_now
from memlab.journey.entry import admission, steps

Page = Callable[[HttpRequest, Participant, StudyVersion], HttpResponse]


def _before_consent(page: Page) -> Callable[..., HttpResponse]:
    """Only for those who have not agreed yet; with the version that they would agree to."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @for_participant
    @wraps(page)
    def inside(request: HttpRequest, participant: Participant) -> HttpResponse:
        if participant.state != ParticipantState.INVITED:
            return redirect("journey:onward")
        if not admission.admits(participant.study, test_mode=participant.test_mode):
            return message(
                request,
                title=_("This study is not open"),
                text=_("It takes no new participants at the moment."),
                study=participant.shown_study,
                status=403,
            )
        try:
            version = participant.study.version()
        except ValidationError as error:  # a draft in a test run
            return message(
                request,
                title=_("Not ready to be tried out"),
                text=" ".join(error.messages),
                study=participant.shown_study,
                status=409,
            )
        if not participant.fits(version):  # a preview
            return message(
                request,
                title=_("This test run is outdated"),
                text=_(
                    "The arm that was chosen for it is no longer in the study. Make a new test run "
                    "on the study's page “Preview”."
                ),
                study=participant.shown_study,
                status=409,
            )
        return page(request, participant, version)

    return inside


@_before_consent
def age(request: HttpRequest, participant: Participant, version: StudyVersion) -> HttpResponse:
    """Old enough or not: a plain question, for a date of birth would say more than is needed."""
    if not steps.must_ask_age(participant, version):
        return redirect("journey:onward")
    minimum = version.configuration.entry.minimum_age
    context = {"study": participant.shown_study, "minimum": minimum, "error": ""}
    if request.method != "POST":
        return render(request, "journey/age.html", context)
    answer = request.POST.get("of_age")
    if answer == "no":
        participant.turn_away(ParticipantState.INELIGIBLE, Exclusion.AGE)
    elif answer == "yes" and request.POST.get("minimum") == str(minimum):
        participant.confirm_age(wall=wall_now())
    else:
        context["error"] = _("Please answer with one of the two buttons.")
        return render(request, "journey/age.html", context, status=400)
    return redirect("journey:onward")


@_before_consent
def information(
    request: HttpRequest, participant: Participant, version: StudyVersion
) -> HttpResponse:
    """The information sheet of the present version, with where the data go."""
    if steps.must_ask_age(participant, version):
        return redirect("journey:age")
    outdated = participant.read_version_id not in (None, version.pk)
    if request.method == "POST":
        if request.POST.get("version") == version.sha256:
            participant.read(version)
            return redirect("journey:onward")
        outdated = True
    configuration = version.configuration
    context = {
        "study": participant.shown_study,
        "document": paragraphs(configuration.information),
        "destinations": destinations(configuration),
        "version": version.sha256,
        "changed": outdated,
    }
    status = 409 if request.method == "POST" else 200
    return render(request, "journey/information.html", context, status=status)


@dataclass(frozen=True, slots=True)
class Question:
    """A separate consent as the page asks it: ``chosen`` is what was answered a moment ago."""

    statement: Statement
    document: list[str]
    chosen: str
    error: str

    @property
    def name(self) -> str:
        return f"agree_{self.statement.kind}"


@_before_consent
def consent(request: HttpRequest, participant: Participant, version: StudyVersion) -> HttpResponse:
    """Agree, which pins the version that is shown, or decline.

    If the study was amended since the information sheet was read, that is shown again first: nobody
    agrees to a text that they haven't seen.
    """
    read = participant.read_version_id == version.pk
    if request.method == "POST" and "decline" in request.POST:
        participant.turn_away(ParticipantState.DECLINED, Exclusion.PARTICIPATION)
        return redirect("journey:onward")
    if not read or steps.must_ask_age(participant, version):
        return redirect("journey:information")
    if request.method != "POST":
        return _consent_page(request, participant, version)
    if request.POST.get("version") != version.sha256:
        return redirect("journey:information")
    agreed = _answers(request, version)
    if request.POST.get("agree") != "yes" or agreed is None:
        return _consent_page(request, participant, version, checked=True)
    held = participant.hold()
    if held.state == ParticipantState.INVITED:  # and not withdrawn in another tab
        _agree(held, version, agreed)
    return redirect("journey:onward")


def _answers(request: HttpRequest, version: StudyVersion) -> dict[ConsentKind, bool] | None:
    """Yes or no to each separate consent; None if one is unanswered."""
    given = {
        statement.kind: request.POST.get(f"agree_{statement.kind}")
        for statement in asked(version.configuration)
    }
    if not set(given.values()) <= {"yes", "no"}:
        return None
    return {kind: answer == "yes" for kind, answer in given.items()}


def _agree(
    participant: Participant, version: StudyVersion, agreed: dict[ConsentKind, bool]
) -> None:
    """Consent, unless one that the study can't do without was declined."""
    for statement in asked(version.configuration):
        if statement.required and not agreed[statement.kind]:
            participant.turn_away(ParticipantState.DECLINED, statement.exclusion)
            return
    wall = wall_now()
    participant.give_consent(wall=wall, version=version, agreed=agreed)
    if version.configuration.allocation_time is AllocationTime.CONSENT:
        sessions.allocate(participant, now=participant.study_time(wall))


def _question(statement: Statement, chosen: str, *, checked: bool) -> Question:
    error = ""
    if checked and chosen not in ("yes", "no"):
        error = _("Please choose one of the two.")
    return Question(statement, paragraphs(statement.text), chosen, error)


def _consent_page(
    request: HttpRequest,
    participant: Participant,
    version: StudyVersion,
    *,
    checked: bool = False,
) -> HttpResponse:
    questions = [
        _question(statement, request.POST.get(f"agree_{statement.kind}", ""), checked=checked)
        for statement in asked(version.configuration)
    ]
    ticked = request.POST.get("agree") == "yes"
    error = "" if ticked or not checked else _("Please tick the box if you agree to take part.")
    context = {
        "study": participant.shown_study,
        "document": paragraphs(version.configuration.consent),
        "version": version.sha256,
        "questions": questions,
        "ticked": ticked,
        "error": error,
    }
    return render(request, "journey/consent.html", context, status=400 if checked else 200)
