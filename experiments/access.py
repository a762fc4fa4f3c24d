"""How a browser is known as a participant: a signed cookie that holds ids and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import HttpResponse

COOKIE = "memlab_participant"
SALT = "memlab.participant"
LIFETIME = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class ParticipantRef:
    """Who a cookie speaks for: the lab's id and the participant's public id."""

    lab_id: int
    participant: UUID


def remember(response: HttpResponse, reference: ParticipantRef) -> None:
    """Let this browser come back as the same participant."""
    value = signing.dumps([reference.lab_id, str(reference.participant)], salt=SALT)
    response.set_cookie(
        COOKIE,
        value,
        max_age=LIFETIME,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def forget(response: HttpResponse) -> None:
    response.delete_cookie(COOKIE, samesite="Lax")


def recognise(cookies: dict[str, str]) -> ParticipantRef | None:
    """The participant of a request's cookies; None if there is none or it is not genuine."""
    try:
        lab_id, participant = signing.loads(cookies.get(COOKIE, ""), salt=SALT, max_age=LIFETIME)
    except (signing.BadSignature, ValueError):
        return None
    return ParticipantRef(int(lab_id), UUID(participant))
