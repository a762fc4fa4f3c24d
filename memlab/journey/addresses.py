"""Where a participant is reached, and the links that only they get."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.translation import gettext as _

from experiments.access import ParticipantRef
from experiments.enums import IdentifierKind
from experiments.models import EntryLink, Participant

STOP_SALT = "memlab.reminders.stop"
VALID_FOR = timedelta(days=60)


def email_of(participant: Participant) -> str | None:
    """The address they gave, None if they gave none."""
    kept = participant.identifiers.filter(kind=IdentifierKind.EMAIL).first()
    return None if kept is None else kept.value


def return_link(participant: Participant, *, wall: datetime) -> str:
    """A personal link that leads back into the study, for as long as a reminder may lie about."""
    token = EntryLink.objects.issue(
        lab_id=participant.lab_id,
        study_id=participant.study_id,
        test_mode=participant.test_mode,
        label=_("in a reminder"),
        participant=participant,
        expires_at=wall + VALID_FOR,
    )
    return f"{settings.SITE_URL}{reverse('journey:join', args=[token])}"


def stop_link(participant: Participant) -> str:
    """The address at which this participant's reminders are stopped."""
    token = signing.dumps([participant.lab_id, participant.public_id.hex], salt=STOP_SALT)
    return f"{settings.SITE_URL}{reverse('journey:stop_reminders', args=[token])}"


def whose_stop(token: str) -> ParticipantRef | None:
    """Whom a link to stop reminders belongs to; None if it isn't ours. It doesn't run out: nobody
    should have to be reminded because a link is old."""
    try:
        lab_id, participant = signing.loads(token, salt=STOP_SALT)
    except signing.BadSignature:
        return None
    return ParticipantRef(int(lab_id), UUID(participant))
