"""The participant's pages of withdrawal: how far, are you sure, and what has become of it.

They work whatever the state: in mid-conversation, paused, after the last stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
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
from experiments.models import ErasureReceipt, Participant, Withdrawal
from experiments.models.withdrawal import (
    REASON_CHARACTERS,
    REMOVING,
    kinds_left,
    receipt_hash,
)
from experiments.participants import for_participant, message
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.journey.withdrawing import withdraw as withdraw_participant

#: Holds the code of a receipt for as long as somebody may want to read it again in this browser.
RECEIPT_COOKIE, RECEIPT_SALT = "memlab_receipt", "memlab.receipt"
RECEIPT_LIFETIME = timedelta(hours=24)


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
@for_participant
def withdraw(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Choose how far, read what it means, confirm. Only the last step changes anything."""
    left = kinds_left(participant)
    if not left:
        return redirect("journey:withdrawn")
    chosen = request.POST.get("kind", "")
    reason = request.POST.get("reason", "").strip()
    context: dict[str, Any] = {
        "study": participant.study,
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
    if "confirm" not in request.POST:
        context |= {"told": TOLD[kind], "danger": kind in REMOVING}
        return render(request, "journey/withdraw_confirm.html", context)
    return _carry_on(participant, kind, reason)


def _errors(chosen: str, left: list[WithdrawalKind], reason: str) -> dict[str, str]:
    errors = {}
    if chosen not in left:
        errors["kind_error"] = _now("Please choose how far you want to go.")
    if len(reason) > REASON_CHARACTERS:
        errors["reason_error"] = _now("At most %(limit)s characters; this has %(length)s.") % {
            "limit": REASON_CHARACTERS,
            "length": len(reason),
        }
    return errors


def _carry_on(participant: Participant, kind: WithdrawalKind, reason: str) -> HttpResponse:
    withdrawn = withdraw_participant(
        participant, kind, by=WithdrawnBy.PARTICIPANT, wall=wall_now(), reason=reason
    )
    response = redirect("journey:withdrawn")
    if withdrawn.code:
        response.set_cookie(
            RECEIPT_COOKIE,
            signing.dumps(
                [participant.lab_id, withdrawn.code, kind, participant.study.language],
                salt=RECEIPT_SALT,
            ),
            max_age=RECEIPT_LIFETIME,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
            path=reverse("journey:withdrawn"),
        )
    if kind in REMOVING:
        forget(response)  # this browser leads to the person no more either
    return response


@require_safe
@never_cache
def withdrawn(request: HttpRequest) -> HttpResponse:
    """What was asked for and whether it is done. After an erasure only the receipt is left to tell
    it, which needs no participant."""
    receipt = _receipt_of(request)
    if receipt is not None:
        return _with_receipt(request, *receipt)
    if recognise(request.COOKIES) is None:
        return message(
            request,
            title=_now("You are not known here"),
            text=_now("This browser belongs to nobody in a study, or no longer does."),
        )
    return _known(request)


def _receipt_of(request: HttpRequest) -> tuple[int, str, str, str] | None:
    try:
        lab_id, code, kind, language = signing.loads(
            request.COOKIES.get(RECEIPT_COOKIE, ""), salt=RECEIPT_SALT, max_age=RECEIPT_LIFETIME
        )
    except (signing.BadSignature, ValueError):
        return None
    return lab_id, code, kind, language


def _with_receipt(
    request: HttpRequest, lab_id: int, code: str, kind: str, language: str
) -> HttpResponse:
    with lab_scope(lab_id):
        done = ErasureReceipt.objects.filter(lab_id=lab_id, code_hash=receipt_hash(code)).exists()
    with translation.override(language):
        context = {"told": TOLD[WithdrawalKind(kind)], "receipt": code, "done": done}
        return render(request, "journey/withdrawn.html", context)


@for_participant
def _known(request: HttpRequest, participant: Participant) -> HttpResponse:
    last = Withdrawal.objects.filter(participant=participant).order_by("requested_wall").last()
    if last is None:
        return redirect("journey:withdraw")
    context = {
        "study": participant.study,
        "told": TOLD[WithdrawalKind(last.kind)],
        "done": last.state == WithdrawalState.CARRIED_OUT,
        "home_url": reverse("journey:home"),
        "further": bool(kinds_left(participant)),
    }
    return render(request, "journey/withdrawn.html", context)
