"""How far away a moment is, in words. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def away(moment: datetime, *, now: datetime, zone: str) -> str:
    """From ``now`` until ``moment``: in minutes, in hours on the same day, else in calendar days of
    ``zone``, so that "tomorrow" is the day that the calendar says."""
    left = moment - now
    if left <= timedelta():
        return _("now")
    if left < timedelta(hours=1):
        minutes = max(1, round(left / timedelta(minutes=1)))
        told = ngettext("in %(count)s minute", "in %(count)s minutes", minutes)
        return told % {"count": minutes}
    place = ZoneInfo(zone)
    days = (moment.astimezone(place).date() - now.astimezone(place).date()).days
    if days == 0 or left < timedelta(hours=6):
        hours = round(left / timedelta(hours=1))
        return ngettext("in %(count)s hour", "in %(count)s hours", hours) % {"count": hours}
    if days == 1:
        return _("tomorrow")
    return ngettext("in %(count)s day", "in %(count)s days", days) % {"count": days}
