"""External surveys: the address that leads to one, and the signed way back.

A token names lab, participant's response and expiry, and carries a keyed hash of them, all of it in
letters that any survey service passes on unchanged. It proves that Memlab sent this browser there
for this response; that the survey was really filled in is for the service's own record to say.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit
from uuid import UUID

from django.utils.crypto import salted_hmac

SALT = "memlab.external-survey"
#: Long enough for whoever fills in a survey in two sittings.
LIFETIME = timedelta(days=14)
_FIELDS = struct.Struct(">I16sI")  # lab, response, expiry in seconds since 1970
_SIGNATURE = 16
TOKEN, CODE, RETURN = "{token}", "{code}", "{return}"


class BadToken(Exception):
    """Not a token of ours, or one that was changed."""


class ExpiredToken(Exception):
    """Genuine, but too old."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What a token stands for: one response of one lab's participant."""

    lab_id: int
    response: UUID


def token(errand: Errand, *, wall: datetime) -> str:
    """A token for leaving now, about 50 characters from A–Z, a–z, 0–9, - and _."""
    expiry = int((wall + LIFETIME).timestamp())
    fields = _FIELDS.pack(errand.lab_id, errand.response.bytes, expiry)
    return base64.urlsafe_b64encode(fields + _signature(fields)).decode().rstrip("=")


def errand(text: str, *, wall: datetime) -> Errand:
    """What a token stands for. Raises BadToken or ExpiredToken."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadToken from None
    fields, signature = raw[: _FIELDS.size], raw[_FIELDS.size :]
    if len(raw) != _FIELDS.size + _SIGNATURE or not hmac.compare_digest(
        signature, _signature(fields)
    ):
        raise BadToken
    lab_id, response, expiry = _FIELDS.unpack(fields)
    if wall >= datetime.fromtimestamp(expiry, tz=UTC):
        raise ExpiredToken
    return Errand(lab_id, UUID(bytes=response))


def address(template: str, *, token: str, code: str, back: str) -> str:
    """The survey's address for one participant.

    ``{token}``, ``{code}`` and ``{return}`` (the address of the way back) are filled in. A template
    without ``{token}`` and ``{return}`` gets both token and code as parameters of these names.
    """
    if TOKEN not in template and RETURN not in template:
        parts = urlsplit(template)
        query = [*parse_qsl(parts.query, keep_blank_values=True), ("token", token)]
        if CODE not in template:
            query.append(("code", code))
        template = urlunsplit(parts._replace(query=urlencode(query, safe="{}")))
    for placeholder, text in ((TOKEN, token), (CODE, code), (RETURN, back)):
        template = template.replace(placeholder, quote(text, safe=""))
    return template


def _signature(fields: bytes) -> bytes:
    return salted_hmac(SALT, fields, algorithm="sha256").digest()[:_SIGNATURE]
