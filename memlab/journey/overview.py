"""What a participant's overview says: stages, times, payment. Values for the templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Sum
from django.urls import reverse

from experiments.configuration import StageConfiguration
from experiments.enums import PaymentState, SessionState
from experiments.models import Participant, Payment, StaffMessage
from experiments.schedule import Slot, Standing
from memlab.journey.wording import away

NOW = (Standing.OPEN, Standing.IN_PROGRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """One stage as its participant sees it; moments in study time, with how far away they are.

    ``closes_at`` is until when it can be begun, or finished where it was begun.
    """

    number: int
    title: str
    state: str
    minutes: int | None
    payment: str
    url: str
    opens_at: datetime | None
    opens_in: str
    closes_at: datetime | None
    closes_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Earnings:
    """What was earned so far of what the whole study pays, with the currency."""

    earned: str
    total: str
    paid: str


def stage_rows(participant: Participant, slots: Sequence[Slot], *, now: datetime) -> list[StageRow]:
    """Every stage in order. Done is said of those that are complete."""
    complete = set(
        participant.sessions.filter(state=SessionState.COMPLETE).values_list("stage_key", flat=True)
    )
    currency = _currency(participant)
    return [
        _row(slot, zone=participant.zone, now=now, currency=currency, complete=complete)
        for slot in slots
    ]


def _row(slot: Slot, *, zone: str, now: datetime, currency: str, complete: set[str]) -> StageRow:
    stage, begun = slot.stage, slot.standing is Standing.IN_PROGRESS
    closes = slot.finish_by if begun else slot.closes_at
    done = stage.key in complete
    return StageRow(
        number=stage.number,
        title=stage.title,
        state=str(Standing.DONE if done else slot.standing),
        minutes=None if stage.maximum_minutes is None else round(stage.maximum_minutes),
        payment=_pay(stage, currency),
        url=reverse("journey:done" if done else "journey:stage", args=[stage.key]),
        opens_at=slot.opens_at,
        opens_in="" if slot.opens_at is None else away(slot.opens_at, now=now, zone=zone),
        closes_at=closes,
        closes_in="" if closes is None else away(closes, now=now, zone=zone),
    )


def shows_a_time(row: StageRow) -> bool:
    """Whether the overview says when this stage opens or closes."""
    if row.state in NOW:
        return row.closes_at is not None
    return row.state == Standing.LATER and row.opens_at is not None


def next_row(rows: Sequence[StageRow]) -> StageRow | None:
    """What to do now, or else what comes next."""
    now = [row for row in rows if row.state in NOW]
    later = [row for row in rows if row.state == Standing.LATER and row.opens_at is not None]
    return next(iter([*now, *later]), None)


def earnings(participant: Participant) -> Earnings | None:
    """None where nothing is paid."""
    version = participant.version
    if version is None:
        return None
    stages = version.configuration.stages
    total = sum((Decimal(stage.payment) for stage in stages), Decimal())
    if not total:
        return None
    rows = Payment.objects.filter(participant=participant).exclude(state=PaymentState.WITHHELD)
    currency = _currency(participant)
    return Earnings(
        earned=amount(_sum(rows), currency),
        total=amount(total, currency),
        paid=amount(_sum(rows.filter(state=PaymentState.PAID)), currency),
    )


def amount(value: Decimal, currency: str) -> str:
    """An amount of money, e.g. "7.50 EUR"."""
    return f"{value:.2f} {currency}".strip()


def unread(participant: Participant) -> int:
    """How many messages of the staff wait to be read."""
    mine = StaffMessage.objects.filter(participant=participant)
    return int(mine.unread(from_staff=True).count())


def _pay(stage: StageConfiguration, currency: str) -> str:
    value = Decimal(stage.payment)
    return amount(value, currency) if value else ""


def _currency(participant: Participant) -> str:
    return "" if participant.version is None else participant.version.configuration.currency


def _sum(rows: object) -> Decimal:
    found = rows.aggregate(total=Sum("amount"))["total"]  # type: ignore[attr-defined]
    return Decimal() if found is None else Decimal(found)
