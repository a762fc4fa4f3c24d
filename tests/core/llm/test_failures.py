"""Statuses and codes of both providers are read alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.llm.failures import diagnosed, lost_connection, retry_after_seconds

K = FailureKind


@pytest.mark.parametrize(
    ("status", "code", "kind", "retryable"),
    [
        (400, "DataInspectionFailed", K.CONTENT_FILTER, False),
        (400, "data_inspection_failed", K.CONTENT_FILTER, False),
        (400, "Arrearage", K.AUTHENTICATION, False),
        (402, None, K.AUTHENTICATION, False),
        (400, "context_length_exceeded", K.BAD_REQUEST, False),
        (429, None, K.RATE_LIMIT, True),
        (429, "Throttling.AllocationQuota", K.RATE_LIMIT, True),
        (429, "insufficient_quota", K.RATE_LIMIT, False),
        (408, None, K.TIMEOUT, True),
        (500, "RequestTimeOut", K.TIMEOUT, True),
        (418, "teapot", K.BAD_REQUEST, False),
        (529, "overloaded", K.UNAVAILABLE, True),
        (200, "InternalError.Algo", K.UNAVAILABLE, True),
        (None, "429", K.RATE_LIMIT, True),
        (None, None, K.UNAVAILABLE, True),
    ],
)
def test_error_is_read(
    status: int | None, code: str | None, kind: FailureKind, retryable: bool
) -> None:
    diagnosis = diagnosed(status, code)
    assert (diagnosis.kind, diagnosis.retryable) == (kind, retryable)


def test_lost_connection_depends_on_whether_anything_had_come() -> None:
    assert lost_connection(streaming=True).kind is K.CUT_STREAM
    assert lost_connection(streaming=False).kind is K.UNAVAILABLE


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("soon", None), ("", None)]
)
def test_retry_after_in_seconds(header: str, seconds: float | None) -> None:
    assert retry_after_seconds({"retry-after": header}) == seconds


def test_retry_after_as_a_date() -> None:
    moment = datetime.now(UTC) + timedelta(seconds=60)
    seconds = retry_after_seconds({"retry-after": format_datetime(moment, usegmt=True)})
    assert seconds == pytest.approx(60, abs=3)
    past = format_datetime(moment - timedelta(hours=1), usegmt=True)
    assert retry_after_seconds({"retry-after": past}) == 0.0


def test_failure_says_its_kind_and_detail() -> None:
    assert str(ModelFailure(K.TIMEOUT, "no answer in time")) == "timeout: no answer in time"
    assert ModelFailure(K.TIMEOUT, "x").retryable
    assert not ModelFailure(K.TRUNCATED, "x").retryable
