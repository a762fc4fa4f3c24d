"""A stage's window as a calendar entry (RFC 5545) that goes along with a reminder.

The entry's UID is the same in all reminders of a stage, and its SEQUENCE grows with every change of
the window, so that a calendar replaces what it had.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from uuid import uuid5
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.translation import gettext as _
from icalendar import Calendar, Event

from experiments.models import Participant
from experiments.schedule import Slot
from memlab.core.mail import Attachment

#: How long an entry is where a window has no end and its conversation no limit.
WITHOUT_END = timedelta(minutes=30)


def entry(
    participant: Participant,
    slot: Slot,
    *,
    window: tuple[datetime | None, datetime | None],
    sequence: int,
    made_at: datetime,
) -> Attachment:
    """The file, in the participant's zone and the active language. It blocks no time: a window is
    when something can be done, not how long it takes."""
    opens, closes = window
    assert opens is not None
    place = ZoneInfo(participant.zone)
    event = Event()
    event.add("uid", f"{uuid5(participant.public_id, slot.stage.key)}@{_host()}")
    event.add("sequence", sequence)
    event.add("dtstamp", made_at.astimezone(UTC))
    event.add("dtstart", opens.astimezone(place))
    event.add("dtend", (closes or opens + _length(slot)).astimezone(place))
    event.add("summary", _("%(study)s: %(stage)s") % _names(participant, slot))
    event.add("url", f"{settings.SITE_URL}/")
    event.add("transp", "TRANSPARENT")
    calendar = Calendar()
    calendar.add("prodid", "-//Memlab//Reminders//EN")
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    calendar.add_component(event)
    calendar.add_missing_timezones()
    return Attachment("memlab.ics", calendar.to_ical(), "text/calendar")


def _length(slot: Slot) -> timedelta:
    minutes = slot.stage.maximum_minutes
    return WITHOUT_END if minutes is None else timedelta(minutes=minutes)


def _names(participant: Participant, slot: Slot) -> dict[str, str]:
    return {"study": participant.shown_study.title, "stage": slot.stage.title}


def _host() -> str:
    return urlsplit(settings.SITE_URL).hostname or "localhost"
