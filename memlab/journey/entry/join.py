"""The door: whoever opens a link learns where they are, and enters by a click.

Opening alone changes nothing and sets no cookie, so neither a mail program that looks at links nor
a page that embeds one enters, or swaps, anybody.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import translation
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from experiments.access import ParticipantRef, recognise, remember
from experiments.enums import ParticipantState
from experiments.models import EntryLink, Identifier, Participant, Recruiter, Study
from experiments.models.returning import WINDOW
from experiments.participants import message
from experiments.recruitment import BadArrival, Fault
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.journey.entry import admission, guessing, steps
from memlab.journey.entry.admission import Visit


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """A link of any kind. The same person coming back is the same participant."""
    link = EntryLink.objects.find(token)
    if link is None:
        raise Http404
    with lab_scope(link.lab_id):
        study = get_object_or_404(Study, lab_id=link.lab_id, pk=link.study_id)
        with translation.override(study.shown().language):
            try:
                response = _enter(request, _visit(request, link, study))
            except BadArrival as bad:
                response = _refuse(study, request, _told(bad), status=400)
            except ValidationError as error:  # a draft in a test run
                text = _("It isn't ready to be tried out: %(reason)s")
                response = _refuse(study, request, text % {"reason": " ".join(error.messages)})
    add_never_cache_headers(response)
    return response


def _visit(request: HttpRequest, link: EntryLink, study: Study) -> Visit:
    """Who comes. Raises BadArrival if a recruiter's parameters don't say it."""
    if link.recruiter_id is not None:
        recruiter = get_object_or_404(Recruiter, lab_id=link.lab_id, pk=link.recruiter_id)
        identity = recruiter.identity(recruiter.arrival(request.GET))
        holder = Identifier.objects.holder(study, identity, test_mode=link.test_mode)
        return Visit(link, study, holder, recruiter, identity, (identity,))
    if link.participant is not None:
        participant = get_object_or_404(
            Participant, lab_id=link.lab_id, public_id=link.participant, study=study
        )
        identities = [row.identity for row in participant.identifiers.all()]
        return Visit(link, study, participant, identities=identities)
    return Visit(link, study, _of_cookie(request, link))


def _of_cookie(request: HttpRequest, link: EntryLink) -> Participant | None:
    """Who this browser is in the link's study."""
    owner = recognise(request.COOKIES)
    if owner is None or owner.lab_id != link.lab_id:
        return None
    return Participant.objects.filter(
        public_id=owner.participant, study_id=link.study_id, test_mode=link.test_mode
    ).first()


def _enter(request: HttpRequest, visit: Visit) -> HttpResponse:
    study, known = visit.study, visit.participant
    declined = known is not None and known.state == ParticipantState.DECLINED
    if known is not None and not declined and known == _of_cookie(request, visit.link):
        return _lead_on(visit, known)
    address = request.META.get("REMOTE_ADDR", "")
    if guessing.tries_too_many(visit, address=address, wall=wall_now()):
        return _too_many(request, study)
    if visit.link.expired(wall_now()):
        return _refuse(study, request, _("This link has expired. Please ask for a new one."), 410)
    if not visit.is_in and not admission.admits(study, test_mode=visit.link.test_mode):
        return message(
            request,
            title=_("This study is not open"),
            text=_("It takes no new participants at the moment."),
            study=study.shown(),
            status=403,
        )
    if visit.leads_nobody_new():
        text = _("This part is for people who took part in the first one under the same id.")
        return _refuse(study, request, text)
    if visit.is_barred():
        text = _("Your data were erased at your request, so you can't take part again.")
        return _refuse(study, request, text)
    if request.method != "POST":
        return render(request, "journey/join.html", {"study": study.shown(), "declined": declined})
    return _admit(request, visit)


def _admit(request: HttpRequest, visit: Visit) -> HttpResponse:
    participant = admission.enrol(visit, time_zone=request.POST.get("time_zone", ""))
    participant.think_again()
    response = _lead_on(visit, participant)
    remember(response, ParticipantRef(visit.link.lab_id, participant.public_id))
    return response


def _lead_on(visit: Visit, participant: Participant) -> HttpResponse:
    """To where they belong; to the stage that their recruiter's study is of."""
    stage = None if visit.recruiter is None else visit.recruiter.stage
    ready = participant.consented_at is not None and steps.next_page(participant) is None
    if stage is not None and ready and participant.state == ParticipantState.ACTIVE:
        return redirect("journey:stage", stage.key)
    return redirect("journey:onward")


def _too_many(request: HttpRequest, study: Study) -> HttpResponse:
    response = message(
        request,
        title=_("Please come back in a quarter of an hour"),
        text=_(
            "Too many people have come in from your network within a short time. Nothing is lost: "
            "wait a quarter of an hour, and open the study from your recruiter's page again."
        ),
        study=study,
        status=429,
    )
    response["Retry-After"] = str(int(WINDOW.total_seconds()))
    return response


def _refuse(study: Study, request: HttpRequest, text: str, status: int = 403) -> HttpResponse:
    title = _("You can't enter the study by this link")
    return message(request, title=title, text=text, study=study.shown(), status=status)


def _told(bad: BadArrival) -> str:
    """What is wrong with a recruiter's parameters, and what to do."""
    if bad.fault is Fault.FOREIGN:
        return _("It belongs to another study of your recruiter. Please go back and check.")
    reasons = {
        Fault.MISSING: _("“%(name)s” is missing from the address."),
        Fault.REPEATED: _("“%(name)s” is in the address more than once."),
        Fault.UNFILLED: _("“%(name)s” in the address wasn't filled in."),
        Fault.TOO_LONG: _("“%(name)s” in the address is too long."),
        Fault.UNREADABLE: _("“%(name)s” in the address can't be read."),
    }
    remedy = _("Please open the study from your recruiter's page again.")
    return f"{reasons[bad.fault] % {'name': bad.parameter}} {remedy}"
