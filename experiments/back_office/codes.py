"""Why something fell short, in staff's words.

Rows keep codes, such as ``embedding:timeout``: they hold no text and can be counted. A code that
isn't known here, of a lab's own architecture, is told as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from memlab.core.ledger import JobKind
from memlab.core.llm.base import FailureKind

#: Whole codes.
REASONS = {
    "abandoned": _("given up: every attempt ended with its process"),
    "died": _("given up: every attempt ended with its process"),
    "withheld": _("withheld: the conversation was paused"),
    "no_contact": _("the study names no safety contact"),
    "not_configured": _("the installation has no mail server"),
    "no_json": _("the answer could not be read"),
    "bad_category": _("the answer names no known category"),
    "bad_severity": _("the answer names no known severity"),
    "provider_configuration": _("the provider is not set up"),
    "maintenance_unfinished": _("maintenance made no progress"),
    "memory_busy": _("the memory was being written"),
    "memory_unmaintained": _("maintenance that was due had been given up"),
    "recall:no_query_vector": _("searched without a vector of the message"),
    "consolidation:memory_changed": _("a memory changed in the meantime"),
    "memory:overtaken": _("a memory changed in the meantime"),
    "extraction:invalid_json": _("extraction: the answer could not be read"),
    "extraction:ratings_missing": _("extraction: ratings are missing"),
    "extraction:appraisal_missing": _("extraction: the appraisal is missing"),
    "extraction:summaries_missing": _("extraction: summaries are missing"),
    "extraction:unusable_merger": _("extraction: the merged text is unusable"),
    "extraction:unusable_log": _("extraction: the log is unusable"),
}
#: What was being done, before the colon of a code, and what came in between, after it.
TASKS = {
    "embedding": _("embedding"),
    "extraction": _("extraction"),
    "EmbeddingFailure": _("embedding"),
    "ModelFailure": _("model"),
    "error": _("error of the platform"),
    "memory_pending": _("a memory step was still pending"),
}
FAILURES = {
    FailureKind.TIMEOUT: _("no answer in time"),
    FailureKind.RATE_LIMIT: _("the provider's rate limit"),
    FailureKind.CONTENT_FILTER: _("the provider's content filter"),
    FailureKind.TRUNCATED: _("the answer was cut off"),
    FailureKind.CUT_STREAM: _("the connection broke off"),
    FailureKind.MALFORMED: _("the answer could not be read"),
    FailureKind.UNAVAILABLE: _("the provider was not available"),
    FailureKind.AUTHENTICATION: _("the key was refused"),
    FailureKind.BAD_REQUEST: _("the request was refused"),
}
_OF_A_TURN = re.compile(r"turn (?P<number>\d+): (?P<code>.+)")


def told(code: str) -> str:
    """One code in words."""
    if of_a_turn := _OF_A_TURN.fullmatch(code):
        return _now("message %(number)s: %(reason)s") % {
            "number": of_a_turn["number"],
            "reason": told(of_a_turn["code"]),
        }
    if code in REASONS:
        return str(REASONS[code])
    task, colon, detail = code.partition(":")
    if colon and task in TASKS:
        return _now("%(task)s: %(detail)s") % {"task": TASKS[task], "detail": _told_detail(detail)}
    return _told_detail(code)


def all_told(codes: Iterable[str]) -> str:
    """Several codes in words, one after the other."""
    return "; ".join(told(code) for code in codes)


def told_failure(failure: str) -> str:
    """What a memory step kept of its codes."""
    return all_told(code for code in failure.split(", ") if code)


def _told_detail(detail: str) -> str:
    if detail in JobKind.values:
        return str(JobKind(detail).label)
    return str(FAILURES[FailureKind(detail)]) if detail in FAILURES else detail
