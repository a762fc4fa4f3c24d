"""From what a provider reported to what Memlab calls it.

HTTP statuses and error codes mean the same at every door, so chat and
embeddings share this reading. Provider messages are left out of `detail` on
purpose: some quote the request, and so a participant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from memlab.core.llm.base import WORTH_RETRYING, FailureKind


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What went wrong, before it is known whether text had already been streamed."""

    kind: FailureKind
    detail: str
    retry_after: float | None = None
    final: bool = False

    @property
    def retryable(self) -> bool:
        return self.kind in WORTH_RETRYING and not self.final


# Beginnings of error codes, lower case and without separators: DashScope's
# (`Throttling.RateQuota`) and the ones OpenAI-compatible servers use
# (`rate_limit_exceeded`). The first that fits counts, so longer ones come first.
_CODES: tuple[tuple[str, FailureKind], ...] = (
    ("datainspectionfailed", FailureKind.CONTENT_FILTER),
    ("contentfilter", FailureKind.CONTENT_FILTER),
    ("contentpolicyviolation", FailureKind.CONTENT_FILTER),
    ("throttling", FailureKind.RATE_LIMIT),
    ("ratelimit", FailureKind.RATE_LIMIT),
    ("limitrequests", FailureKind.RATE_LIMIT),
    ("insufficientquota", FailureKind.RATE_LIMIT),
    ("invalidapikey", FailureKind.AUTHENTICATION),
    ("authentication", FailureKind.AUTHENTICATION),
    ("accessdenied", FailureKind.AUTHENTICATION),
    ("arrearage", FailureKind.AUTHENTICATION),
    ("permission", FailureKind.AUTHENTICATION),
    ("requesttimeout", FailureKind.TIMEOUT),
    ("gatewaytimeout", FailureKind.TIMEOUT),
    ("timeout", FailureKind.TIMEOUT),
    ("invalidparameter", FailureKind.BAD_REQUEST),
    ("invalidrequest", FailureKind.BAD_REQUEST),
    ("badrequest", FailureKind.BAD_REQUEST),
    ("contextlength", FailureKind.BAD_REQUEST),
    ("modelnot", FailureKind.BAD_REQUEST),
)
# An empty purse is reported like a full queue, but waiting doesn't fill it.
_FINAL_CODES = ("insufficientquota",)


def _kind_of_code(code: str) -> FailureKind | None:
    for beginning, kind in _CODES:
        if code.startswith(beginning):
            return kind
    return None


def _kind_of_status(status: int) -> FailureKind:
    match status:
        case 401 | 402 | 403:
            return FailureKind.AUTHENTICATION
        case 408 | 504:
            return FailureKind.TIMEOUT
        case 429:
            return FailureKind.RATE_LIMIT
        case _ if 400 <= status < 500:
            return FailureKind.BAD_REQUEST
        case _:
            return FailureKind.UNAVAILABLE


def diagnosed(
    status: int | None, code: str | None, headers: Mapping[str, str] | None = None
) -> Diagnosis:
    """The reading of an error answer: its code where that is known, else its status.

    A status of None or 200 is an error inside a stream that had begun well.
    """
    plain = "".join(character for character in (code or "").lower() if character.isalnum())
    in_stream = status is None or status == 200
    kind = _kind_of_code(plain)
    if kind is None:
        # OpenAI-compatible servers write the status into the code of a streamed error.
        kind = _kind_of_status(
            int(plain) if plain.isdecimal() else 500 if in_stream else status or 500
        )
    place = "inside the stream" if in_stream else f"status {status}"
    detail = f"the provider answered with an error, {place}, code {code or 'none'}"
    return Diagnosis(
        kind, detail, retry_after_seconds(headers or {}), final=plain.startswith(_FINAL_CODES)
    )


def lost_connection(streaming: bool) -> Diagnosis:
    """No connection, or none any more: which of the two depends on whether anything had come."""
    if streaming:
        return Diagnosis(FailureKind.CUT_STREAM, "the connection dropped inside the stream")
    return Diagnosis(FailureKind.UNAVAILABLE, "no connection to the provider")


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """The `Retry-After` header in seconds from now, from either of its forms."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        return _seconds_until(value)


def _seconds_until(http_date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(http_date)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
