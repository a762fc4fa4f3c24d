"""The payment ledger as a file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from experiments.models import Payment
from memlab.core.csv_files import CsvForm, iso, written

COLUMNS = (
    "participant",
    "study",
    "stage",
    "amount",
    "currency",
    "state",
    "reason",
    "earned_at_study",
    "earned_at_wall",
    "decided_at",
    "paid_at",
    "test_run",
)


def as_csv(payments: Iterable[Payment], form: CsvForm) -> bytes:
    """The file with its line of names; amounts with two decimals, times ISO 8601 in UTC."""
    return written([COLUMNS, *(_row(payment) for payment in payments)], form, first=True)


def _row(payment: Payment) -> tuple[str | int, ...]:
    return (
        payment.code,
        payment.study.title,
        payment.stage_key,
        f"{payment.amount:.2f}",
        payment.currency,
        payment.state,
        payment.reason,
        iso(payment.earned_at),
        iso(payment.recorded_at),
        _moment(payment.decided_at),
        _moment(payment.paid_at),
        int(payment.test_mode),
    )


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else iso(moment)
