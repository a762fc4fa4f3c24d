"""Times of day in a participant's zone, across changes of the clocks. Pure.

Two rules, for a time of day that a day has twice or not at all:

- A time that comes twice (the clocks go back) counts both times: what waits for it goes on at the
  first of the two that isn't past.
- A time that never comes (the clocks go forward over it) is the moment at which they do: 02:30 in
  a night without an hour from two to three is 03:00 by the new time.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def put_off(moment: datetime, clock: str, *, zone: str) -> datetime:
    """The first moment from ``moment`` on at which clocks in ``zone`` show ``clock`` ("HH:MM"),
    in UTC; ``moment`` itself where ``clock`` is empty."""
    if not clock:
        return moment
    place, wanted = ZoneInfo(zone), time.fromisoformat(clock)
    today = moment.astimezone(place).date()
    coming = [
        shown
        for days in range(-1, 4)  # a zone may leave out a whole day
        for shown in _shown(today + timedelta(days=days), wanted, place)
        if shown >= moment
    ]
    return min(coming)


def _shown(day: date, wanted: time, place: ZoneInfo) -> list[datetime]:
    """When clocks show this time on this day, in UTC: once, twice, or as the rule above says."""
    first = datetime.combine(day, wanted, place)
    second = first.replace(fold=1)
    before, after = first.utcoffset(), second.utcoffset()
    assert before is not None
    assert after is not None
    if before == after:
        return [first.astimezone(UTC)]
    if before > after:
        return [first.astimezone(UTC), second.astimezone(UTC)]
    return [_leap(second.astimezone(UTC), first.astimezone(UTC), place)]


def _leap(early: datetime, late: datetime, place: ZoneInfo) -> datetime:
    """When the clocks go forward, which they do after ``early`` and by ``late``."""
    old = early.astimezone(place).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + (late - early) // 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(place).utcoffset() == old:
            early = middle
        else:
            late = middle
    return late
