"""The receipt of a removal, in the hands of the person before anything is removed.

Its code is made when the page asks “Are you sure?”, and that page's cookie brings it: if the answer
to the confirmation is lost on its way, the browser has it already. The server stores its hash
alone, and only with the wish itself; until then the code is worth nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from experiments.enums import WithdrawalKind
from experiments.models import ErasureReceipt, Participant, Withdrawal
from experiments.models.withdrawal import new_receipt_code, receipt_hash
from memlab.core.tenancy import lab_scope

#: Holds the code for as long as somebody may want to read it again in this browser.
COOKIE, SALT = "memlab_receipt", "memlab.receipt"
LIFETIME = timedelta(hours=24)


class Standing(StrEnum):
    """What has become of the wish that a receipt is for."""

    UNKNOWN = "unknown"  # never confirmed
    REQUESTED = "requested"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The code, for which wish of whom it is, and the language to show it in."""

    lab_id: int
    participant: UUID
    code: str
    kind: WithdrawalKind
    language: str

    @classmethod
    def offer(cls, participant: Participant, kind: WithdrawalKind) -> Receipt:
        return cls(
            lab_id=participant.lab_id,
            participant=participant.public_id,
            code=new_receipt_code(),
            kind=kind,
            language=participant.shown_study.language,
        )

    def is_for(self, participant: Participant, kind: WithdrawalKind) -> bool:
        return (self.participant, self.kind) == (participant.public_id, kind)

    def _signed(self) -> str:
        told = [self.lab_id, str(self.participant), self.code, self.kind, self.language]
        return signing.dumps(told, salt=SALT)

    def standing(self) -> Standing:
        """Opens the lab's scope itself, for it needs no participant."""
        mine = {"lab_id": self.lab_id, "code_hash": receipt_hash(self.code)}
        with lab_scope(self.lab_id):
            if ErasureReceipt.objects.filter(**mine).exists():
                return Standing.DONE
            known = Withdrawal.objects.filter(**mine).exists()
        return Standing.REQUESTED if known else Standing.UNKNOWN


def kept(request: HttpRequest) -> Receipt | None:
    """The receipt that this browser was given within the last day."""
    try:
        lab_id, participant, code, kind, language = signing.loads(
            request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=LIFETIME
        )
    except (signing.BadSignature, ValueError):
        return None
    return Receipt(
        lab_id=lab_id,
        participant=UUID(participant),
        code=code,
        kind=WithdrawalKind(kind),
        language=language,
    )


def keep(response: HttpResponse, receipt: Receipt) -> None:
    """Let this browser show it for a day."""
    response.set_cookie(
        COOKIE,
        receipt._signed(),
        max_age=LIFETIME,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
        path=reverse("journey:home"),
    )
