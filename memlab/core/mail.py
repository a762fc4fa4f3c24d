"""The one door to e-mail: sent, or a failure that says whether trying again is safe.

Mail is sent at most once only if its sender knows what a failure means. As long as the server has
not been handed the message, nothing was sent; what it refuses wasn't sent either. A connection
that is lost in between leaves it open: then nobody knows, and nobody may send it again unasked.
"""

from __future__ import annotations

import logging
import smtplib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from memlab.core.tenancy.scope import active_lab_id

logger = logging.getLogger(__name__)


class MailTrouble(StrEnum):
    TEMPORARY = "temporary"  # certainly not sent; trying again may help
    PERMANENT = "permanent"  # certainly not sent, and trying again won't help
    UNKNOWN = "unknown"  # the connection broke while the message was being handed over


class MailFailure(Exception):
    """``kind`` says what may be done, ``code`` why: never an address, never a text."""

    def __init__(self, kind: MailTrouble, code: str) -> None:
        super().__init__(f"{kind}: {code}")
        self.kind = kind
        self.code = code


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes along, e.g. ``("invitation.ics", b"…", "text/calendar")``."""

    name: str
    content: bytes
    media_type: str


def send(
    to: str,
    subject: str,
    body: str,
    attachments: Sequence[Attachment] = (),
    *,
    unsubscribe: str = "",
) -> None:
    """Send one plain text mail to one address, never inside a lab's scope. Raises MailFailure.

    ``unsubscribe`` is the address to which a mail program may post on its own, for its reader who
    wants no more of these (RFC 8058).
    """
    if active_lab_id() is not None:
        raise RuntimeError("E-mail is never sent inside a transaction: leave the lab_scope first.")
    if not settings.EMAIL_BACKEND:
        raise MailFailure(MailTrouble.PERMANENT, "not_configured")
    message = EmailMessage(
        subject=" ".join(subject.split()),
        body=body,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[to],
        headers={"Auto-Submitted": "auto-generated", **_unsubscribing(unsubscribe)},
        attachments=[(each.name, each.content, each.media_type) for each in attachments],
    )
    connection = get_connection()
    try:
        _open(connection)
        _hand_over(connection, message)
    finally:
        _close(connection)


def _unsubscribing(address: str) -> dict[str, str]:
    if not address:
        return {}
    one_click = "List-Unsubscribe=One-Click"
    return {"List-Unsubscribe": f"<{address}>", "List-Unsubscribe-Post": one_click}


def _open(connection: BaseEmailBackend) -> None:
    """Connect and sign in: whatever goes wrong here, nothing was sent."""
    try:
        connection.open()
    except smtplib.SMTPAuthenticationError as error:
        raise MailFailure(MailTrouble.PERMANENT, f"sign_in_{error.smtp_code}") from None
    except (smtplib.SMTPException, OSError) as error:
        raise MailFailure(MailTrouble.TEMPORARY, f"no_server_{type(error).__name__}") from None


def _hand_over(connection: BaseEmailBackend, message: EmailMessage) -> None:
    try:
        connection.send_messages([message])
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _answer in error.recipients.values()]
        raise _refused(min(codes, default=550)) from None
    except smtplib.SMTPResponseException as error:
        raise _refused(error.smtp_code) from None
    except smtplib.SMTPNotSupportedError:
        raise MailFailure(MailTrouble.PERMANENT, "not_supported") from None
    except ValueError:  # Django's own word for an address or header that can't be written
        raise MailFailure(MailTrouble.PERMANENT, "bad_address") from None
    except (smtplib.SMTPException, OSError) as error:
        raise MailFailure(MailTrouble.UNKNOWN, f"cut_{type(error).__name__}") from None


def _refused(code: int) -> MailFailure:
    """The server's answer is final for this try: 4xx may be tried again, 5xx not."""
    kind = MailTrouble.TEMPORARY if 400 <= code < 500 else MailTrouble.PERMANENT
    return MailFailure(kind, f"refused_{code}")


def _close(connection: BaseEmailBackend) -> None:
    """Say goodbye. The message has been taken or refused by now, so this changes nothing."""
    try:
        connection.close()
    except (smtplib.SMTPException, OSError) as error:
        logger.warning("the mail server's goodbye failed: %s", type(error).__name__)
