"""Today's list: whom a recruiter that forbids addresses is to remind, as staff hand it over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q

from experiments.enums import IdentifierKind, ReminderChannel, ReminderKind, ReminderState
from experiments.models import Reminder, Study
from memlab.core.csv_files import CsvForm, iso, written
from memlab.journey import reminders

HEADER = ("participant", "recruiter", "recruiter_id", "kind", "stage", "number", "due_at", "again")
OUTSIDE = (IdentifierKind.PROLIFIC, IdentifierKind.SONA, IdentifierKind.OTHER)


@dataclass(frozen=True, slots=True)
class Line:
    """One reminder on the list; ``again``: it was handed over today already."""

    reminder: Reminder
    again: bool


def lines(study: Study, *, wall: datetime) -> list[Line]:
    """What is due by the end of the study's day, and what was handed over on it.

    Whom a rule is against now is not on the list, and the reminder expires by it.
    """
    begins, ends = _day(study, wall)
    found = Reminder.objects.filter(
        Q(state=ReminderState.PLANNED, due_at__lt=ends)
        | Q(state=ReminderState.SENT, settled_at__gte=begins),
        participant__study=study,
        participant__test_mode=False,
        channel=ReminderChannel.LIST,
    ).select_related("participant__study", "participant__version")
    listed = (_line(row, wall=wall) for row in found.order_by("participant__code", "due_at"))
    return [line for line in listed if line is not None]


def _day(study: Study, wall: datetime) -> tuple[datetime, datetime]:
    zone = ZoneInfo(study.time_zone)
    today = wall.astimezone(zone).date()
    return tuple(  # type: ignore[return-value]
        datetime.combine(today + timedelta(days=days), time(), zone) for days in (0, 1)
    )


def _line(found: Reminder, *, wall: datetime) -> Line | None:
    """The reminder's line, None if it isn't to be handed over. What was found is looked at again
    under lock: somebody else may be handing the list over, or its receiver may be leaving."""
    if found.state == ReminderState.SENT:
        return Line(found, again=True)
    reminder = reminders.held(found.pk)
    if reminder is None or reminder.state not in (ReminderState.PLANNED, ReminderState.SENT):
        return None
    again = reminder.state == ReminderState.SENT
    return Line(reminder, again) if again or _stays(reminder, wall=wall) else None


def _stays(reminder: Reminder, *, wall: datetime) -> bool:
    """Whether it may still be handed over: as it will be when it is due today."""
    moment = max(reminder.due_at, reminder.participant.study_time(wall))
    slot = reminders.slot_of(reminder, now=moment)
    rule = reminders.rule_against(reminder, slot, now=moment)
    if rule is not None:
        reminder.expire(rule, wall=wall)
    return rule is None


def hand_over(study: Study, *, wall: datetime) -> tuple[bytes, int]:
    """The list as a file that no spreadsheet takes for formulas, and how many lines are new.

    What is on it counts as sent. It is the same file, but for what came since, all day: whoever
    loses it fetches it again.
    """
    listed = lines(study, wall=wall)
    rows = [_row(line) for line in listed]
    for line in listed:
        if not line.again:
            line.reminder.arrived(wall=wall)
    content = written([HEADER], CsvForm.EXCEL, first=True) + written(rows, CsvForm.EXCEL)
    return content, sum(not line.again for line in listed)


def _row(line: Line) -> Sequence[str | int]:
    reminder = line.reminder
    kept = reminder.participant.identifiers.filter(kind__in=OUTSIDE).first()
    recruiter = "" if kept is None else (kept.source or kept.kind)
    return (
        reminder.participant.code,
        recruiter,
        "" if kept is None else kept.value,
        ReminderKind(reminder.kind).value,
        reminder.stage_key,
        reminder.number,
        iso(reminder.due_at),
        "yes" if line.again else "no",
    )
