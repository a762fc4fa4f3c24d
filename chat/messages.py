"""The sentences of the protocol's errors, in the study's language."""

from __future__ import annotations

from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

SENTENCES: dict[str, str | Promise] = {
    "bad_frame": _("This could not be read. Please try again."),
    "too_large": _("This message is too large."),
    "too_long": _("This message is too long. Please shorten it."),
    "empty": _("There is nothing to send yet."),
    "conflict": _("This message could not be stored twice. Please send it again."),
    "rate_limited": _("That was quick. Your message will be sent in a moment."),
    "not_open": _("This conversation is closed, so the message was not sent."),
    "paused": _("This conversation is paused, so the message was not sent."),
    "not_retryable": _("This answer can no longer be tried again."),
    "origin": _("This page may not be used from another site."),
    "internal": _("Something went wrong on our side. Your message is kept."),
}


def sentence(code: str, language: str) -> str:
    """What a participant reads for an error code."""
    with translation.override(language):
        return str(SENTENCES[code])
