"""Times of day across changes of the clocks: real calendars, and what always holds."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.zones import put_off

BERLIN, NEW_YORK, SHANGHAI = "Europe/Berlin", "America/New_York", "Asia/Shanghai"
LORD_HOWE, APIA = "Australia/Lord_Howe", "Pacific/Apia"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "moment", "clock", "expected"),
    [
        # Ordinary days: later today, at once, tomorrow.
        (BERLIN, "2026-07-01 06:00", "10:00", "2026-07-01 08:00"),
        (BERLIN, "2026-07-01 08:00", "10:00", "2026-07-01 08:00"),
        (BERLIN, "2026-07-01 08:01", "10:00", "2026-07-02 08:00"),
        # The clocks go forward between moment and time of day: nine is nine.
        (BERLIN, "2026-03-28 20:00", "09:00", "2026-03-29 07:00"),
        (BERLIN, "2026-03-27 20:00", "09:00", "2026-03-28 08:00"),
        # 02:30 doesn't come: the moment of the leap.
        (BERLIN, "2026-03-28 20:00", "02:30", "2026-03-29 01:00"),
        (BERLIN, "2026-03-29 01:00", "02:30", "2026-03-29 01:00"),
        (BERLIN, "2026-03-29 01:01", "02:30", "2026-03-30 00:30"),
        # 02:30 comes twice: the first that isn't past.
        (BERLIN, "2026-10-24 20:00", "02:30", "2026-10-25 00:30"),
        (BERLIN, "2026-10-25 00:31", "02:30", "2026-10-25 01:30"),
        (BERLIN, "2026-10-25 01:31", "02:30", "2026-10-26 01:30"),
        # The same in New York.
        (NEW_YORK, "2026-03-08 01:00", "02:15", "2026-03-08 07:00"),
        (NEW_YORK, "2026-11-01 02:00", "01:45", "2026-11-01 05:45"),
        (NEW_YORK, "2026-11-01 05:50", "01:45", "2026-11-01 06:45"),
        (NEW_YORK, "2026-11-01 12:00", "08:00", "2026-11-01 13:00"),
        # Shanghai knows no change.
        (SHANGHAI, "2026-03-28 20:00", "02:30", "2026-03-29 18:30"),
        (SHANGHAI, "2026-10-24 20:00", "09:00", "2026-10-25 01:00"),
        # Lord Howe goes half an hour: 02:15 doesn't come in October, 01:45 twice in April.
        (LORD_HOWE, "2026-10-03 12:00", "02:15", "2026-10-03 15:30"),
        (LORD_HOWE, "2026-04-04 12:00", "01:45", "2026-04-04 14:45"),
        (LORD_HOWE, "2026-04-04 14:50", "01:45", "2026-04-04 15:15"),
        # Samoa left out the 30th of December 2011.
        (APIA, "2011-12-30 09:00", "10:00", "2011-12-30 10:00"),
    ],
)
def test_put_off_to_a_time_of_day(zone: str, moment: str, clock: str, expected: str) -> None:
    assert put_off(at(moment), clock, zone=zone) == at(expected)


def test_without_a_time_of_day_nothing_is_put_off() -> None:
    assert put_off(at("2026-03-29 00:59"), "", zone=BERLIN) == at("2026-03-29 00:59")


@settings(max_examples=50, deadline=None)
@given(
    zone=st.sampled_from([BERLIN, NEW_YORK, SHANGHAI, LORD_HOWE, "Africa/Casablanca", "UTC"]),
    moment=st.datetimes(datetime(2020, 1, 1), datetime(2036, 1, 1), timezones=st.just(UTC)),
    clock=st.times(),
)
def test_put_off_is_never_early_and_the_first_such_moment(
    zone: str, moment: datetime, clock: time
) -> None:
    wanted = clock.replace(second=0, microsecond=0)
    found = put_off(moment, wanted.strftime("%H:%M"), zone=zone)
    assert moment <= found <= moment + timedelta(hours=25)
    shown = found.astimezone(ZoneInfo(zone))
    if (shown.hour, shown.minute) != (wanted.hour, wanted.minute):
        # Only where that time doesn't come: a second before, the clocks showed an earlier one.
        before = (found - timedelta(seconds=1)).astimezone(ZoneInfo(zone))
        assert before.time() < wanted < shown.time()
    # Minute by minute, nothing between the two shows the time of day.
    minute = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while minute < found:
        between = minute.astimezone(ZoneInfo(zone))
        assert (between.hour, between.minute) != (wanted.hour, wanted.minute)
        minute += timedelta(minutes=1)
