"""The participant's pages of withdrawal: how far, are you sure, and what has become of it.

They work whatever the state: in mid-conversation, paused, after the last stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from experiments.access import forget, recognise
from experiments.enums import WithdrawalKind, WithdrawalState, WithdrawnBy
from experiments.models import Participant, Withdrawal
from experiments.models.withdrawal import (
    REASON_CHARACTERS,
    REMOVING,
    checked_reason,
    kinds_left,
)
from experiments.participants import for_participant, message
from memlab.core.clock import wall_now
from memlab.journey import receipts
from memlab.journey.receipts import Receipt, Standing
from memlab.journey.withdrawing import withdraw as withdraw_participant


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A kind of withdrawal in plain words."""

    kind: WithdrawalKind
    title: str | Promise
    points: tuple[str | Promise, ...]


TOLD = {
    WithdrawalKind.CHAT: Told(
        kind=WithdrawalKind.CHAT,
        title=_("No more conversations"),
        points=(
            _("A conversation that is open ends now, and no new one begins."),
            _("Questionnaires and the debriefing are still there for you if you want them."),
            _("What you have said and answered so far stays in the study."),
        ),
    ),
    WithdrawalKind.ALL: Told(
        kind=WithdrawalKind.ALL,
        title=_("Stop taking part"),
        points=(
            _("A conversation that is open ends now, and nothing more is asked of you."),
            _("You get no more reminders."),
            _("What you have said and answered so far stays in the study."),
        ),
    ),
    WithdrawalKind.ANONYMISE: Told(
        kind=WithdrawalKind.ANONYMISE,
        title=_("Stop, and remove what leads to me"),
        points=(
            _("A conversation that is open ends now, and nothing more is asked of you."),
            _(
                "Your e-mail address, your recruiter's id, your code, links and password, your "
                "messages with the staff and what you wrote into text fields are deleted."
            ),
            _(
                "Your conversations stay, under a new random code. If you said there who you are, "
                "staff remove it before anything is shared."
            ),
            _("Nobody can find your data afterwards, so they can't be deleted later on."),
        ),
    ),
    WithdrawalKind.ERASE: Told(
        kind=WithdrawalKind.ERASE,
        title=_("Stop, and delete everything"),
        points=(
            _("A conversation that is open ends now, and nothing more is asked of you."),
            _(
                "Everything is deleted: conversations, what the assistant remembered, answers, "
                "your address, consents and messages with the staff."
            ),
            _("The study only still counts that somebody withdrew. Results that were published "
              "before can't be changed."),
            _("What you have earned and wasn't paid yet can still be paid: keep your code."),
            _("It can't be undone."),
        ),
    ),
}  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest) -> HttpResponse:
    """Choose how far, read what it means, confirm. Only the last step changes anything.

    Who confirms once more, because the answer was lost, is led to their receipt, even if nothing
    is left that would know them.
    """
    receipt = _receipt_of(request)
    if receipt is not None and _confirmed_before(request, receipt):
        return _on_to_the_receipt(receipt)
    return _choose(request)


def _receipt_of(request: HttpRequest) -> Receipt | None:
    """The receipt that this browser was given, unless it has become somebody else's since."""
    receipt, owner = receipts.kept(request), recognise(request.COOKIES)
    if receipt is None or (owner is not None and owner.participant != receipt.participant):
        return None
    return receipt


def _confirmed_before(request: HttpRequest, receipt: Receipt) -> bool:
    again = "confirm" in request.POST and request.POST.get("kind") == receipt.kind
    return again and receipt.standing() is not Standing.UNKNOWN


def _on_to_the_receipt(receipt: Receipt) -> HttpResponse:
    response = redirect("journey:withdrawn")
    receipts.keep(response, receipt)
    forget(response)  # this browser leads to the person no more either
    return response


@for_participant
def _choose(request: HttpRequest, participant: Participant) -> HttpResponse:
    left = kinds_left(participant)
    if not left:
        return redirect("journey:withdrawn")
    chosen = request.POST.get("kind", "")
    reason = request.POST.get("reason", "").strip()
    context: dict[str, Any] = {
        "study": participant.shown_study,
        "self_access": participant.study.self_access,
        "code": participant.code,
        "choices": [TOLD[kind] for kind in left],
        "chosen": chosen,
        "reason": reason,
        "reason_characters": REASON_CHARACTERS,
        "home_url": reverse("journey:home"),
    }
    if request.method != "POST" or "back" in request.POST:
        return render(request, "journey/withdraw.html", context)
    context |= _errors(chosen, left, reason)
    if "kind_error" in context or "reason_error" in context:
        return render(request, "journey/withdraw.html", context, status=400)
    kind = WithdrawalKind(chosen)
    if "confirm" in request.POST:
        return _carry_on(request, participant, kind, reason)
    context |= {"told": TOLD[kind], "danger": kind in REMOVING}
    response = render(request, "journey/withdraw_confirm.html", context)
    if kind in REMOVING:
        receipts.keep(response, _receipt_for(request, participant, kind))
    return response


def _receipt_for(request: HttpRequest, participant: Participant, kind: WithdrawalKind) -> Receipt:
    """The one that this browser was offered for this wish already, or a new one."""
    offered = _receipt_of(request)
    if offered is not None and offered.is_for(participant, kind):
        return offered
    return Receipt.offer(participant, kind)


def _errors(chosen: str, left: list[WithdrawalKind], reason: str) -> dict[str, str]:
    errors = {}
    if chosen not in left:
        errors["kind_error"] = _now("Please choose how far you want to go.")
    try:
        checked_reason(reason)
    except ValidationError as error:
        errors["reason_error"] = " ".join(error.messages)
    return errors


def _carry_on(
    request: HttpRequest, participant: Participant, kind: WithdrawalKind, reason: str
) -> HttpResponse:
    receipt = _receipt_for(request, participant, kind) if kind in REMOVING else None
    withdraw_participant(
        participant,
        kind,
        by=WithdrawnBy.PARTICIPANT,
        wall=wall_now(),
        reason=reason,
        code="" if receipt is None else receipt.code,
    )
    return redirect("journey:withdrawn") if receipt is None else _on_to_the_receipt(receipt)


@require_safe
@never_cache
def withdrawn(request: HttpRequest) -> HttpResponse:
    """What was asked for and whether it is done. After an erasure only the receipt is left to tell
    it, which needs no participant."""
    receipt = _receipt_of(request)
    if receipt is not None:
        standing = receipt.standing()
        if standing is not Standing.UNKNOWN:  # else it was offered, and the person went on
            return _with_receipt(request, receipt, done=standing is Standing.DONE)
    if recognise(request.COOKIES) is None:
        return message(
            request,
            title=_now("You are not known here"),
            text=_now("This browser belongs to nobody in a study, or no longer does."),
        )
    return _known(request)


def _with_receipt(request: HttpRequest, receipt: Receipt, *, done: bool) -> HttpResponse:
    with translation.override(receipt.language):
        context = {"told": TOLD[receipt.kind], "receipt": receipt.code, "done": done}
        return render(request, "journey/withdrawn.html", context)


@for_participant
def _known(request: HttpRequest, participant: Participant) -> HttpResponse:
    last = Withdrawal.objects.filter(participant=participant).order_by("requested_wall").last()
    if last is None:
        return redirect("journey:withdraw")
    context = {
        "study": participant.shown_study,
        "self_access": participant.study.self_access,
        "told": TOLD[WithdrawalKind(last.kind)],
        "done": last.state == WithdrawalState.CARRIED_OUT,
        "home_url": reverse("journey:home"),
        "further": bool(kinds_left(participant)),
    }
    return render(request, "journey/withdrawn.html", context)
