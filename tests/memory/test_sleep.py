"""When sleep comes, and what it finds: exact moments, and figures counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.dynamics import Surprise
from memory.enums import SleepTrigger
from memory.sleep import Logged, Rhythm, Statistics, Waiting, next_sleep, statistics
from tests.memory.dialogue import START

RHYTHM = Rhythm()
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def waiting(
    first: datetime, last: datetime | None = None, slept: datetime | None = None
) -> Waiting:
    return Waiting(first=first, last=last or first, slept=slept)


def logged(minute: float, reward: float = 0.0, threat: float = 0.0) -> Logged:
    at = START + timedelta(minutes=minute)
    return Logged(at=at, surprise=Surprise(reward=reward, threat=threat))


def test_it_sleeps_half_an_hour_after_the_last_turn() -> None:
    due = next_sleep(waiting(START, START + 20 * MINUTE), rhythm=RHYTHM, time_zone="UTC")
    assert due == (START + 50 * MINUTE, SleepTrigger.IDLE)


@pytest.mark.parametrize(
    ("slept_hours_ago", "due_in_hours"),
    [(None, 24), (1, 23), (23.9, 0.1), (24, 24), (25, 23), (24 * 7 + 5, 19)],
)
def test_it_sleeps_every_day_counted_from_the_last_sleep(
    slept_hours_ago: float | None, due_in_hours: float
) -> None:
    """Days on which nothing waited pass without a trace, and keep the hour."""
    slept = None if slept_hours_ago is None else START - timedelta(hours=slept_hours_ago)
    ceaseless = waiting(START, START + 40 * HOUR, slept)
    due = next_sleep(ceaseless, rhythm=Rhythm(night_hour=START.hour), time_zone="UTC")
    assert due == (START + timedelta(hours=due_in_hours), SleepTrigger.INTERVAL)


@pytest.mark.parametrize(
    ("zone", "after", "night"),
    [
        ("UTC", datetime(2027, 3, 1, 2, 59, tzinfo=UTC), datetime(2027, 3, 1, 3, tzinfo=UTC)),
        ("UTC", datetime(2027, 3, 1, 3, 0, tzinfo=UTC), datetime(2027, 3, 2, 3, tzinfo=UTC)),
        # Three in the morning in Shanghai is seven in the evening before in UTC.
        (
            "Asia/Shanghai",
            datetime(2027, 3, 1, 18, tzinfo=UTC),
            datetime(2027, 3, 1, 19, tzinfo=UTC),
        ),
        # Berlin before and after its clocks go forward, 28 March 2027.
        (
            "Europe/Berlin",
            datetime(2027, 3, 27, 1, tzinfo=UTC),
            datetime(2027, 3, 27, 2, tzinfo=UTC),
        ),
        (
            "Europe/Berlin",
            datetime(2027, 3, 27, 12, tzinfo=UTC),
            datetime(2027, 3, 28, 1, tzinfo=UTC),
        ),
    ],
)
def test_it_sleeps_at_night_where_the_study_is(zone: str, after: datetime, night: datetime) -> None:
    rhythm = Rhythm(idle_minutes=10_000, interval_hours=1000)
    assert next_sleep(waiting(after), rhythm=rhythm, time_zone=zone) == (night, SleepTrigger.NIGHT)


def test_statistics_by_hand() -> None:
    turns = [
        logged(0, reward=0.5),
        logged(2, threat=1.0, reward=-0.25),
        logged(5, reward=0.25, threat=-0.25),
        logged(9, threat=-0.5),
    ]
    found = statistics(turns, until=START + 39 * MINUTE, low_impact_before=0, rhythm=RHYTHM)
    assert found == Statistics(
        kept=(0, 1, 2, 3),
        low_impact=0,
        # Two and three minutes, and half an hour until the sleep.
        high_impact_seconds=35 * 60.0,
        mean_reward=0.125,
        mean_threat=0.0625,
        peak_reward=0.5,
        peak_threat=1.0,
    )


def test_of_the_turns_of_low_impact_every_fifth_counts_through_all_sleeps() -> None:
    turns = [logged(n, reward=0.05) for n in range(12)]
    found = statistics(turns, until=START + HOUR, low_impact_before=0, rhythm=RHYTHM)
    assert (found.kept, found.low_impact) == ((4, 9), 12)
    later = statistics(turns[:4], until=START + HOUR, low_impact_before=12, rhythm=RHYTHM)
    assert later.kept == (2,)


def test_a_sleep_that_keeps_no_turn_has_neither_mean_nor_peak() -> None:
    found = statistics([logged(0)], until=START + HOUR, low_impact_before=0, rhythm=RHYTHM)
    assert found == Statistics(kept=(), low_impact=1, high_impact_seconds=0.0)


def test_the_limits_belong_to_the_middle() -> None:
    turns = [logged(0, reward=0.1), logged(1, reward=0.4)]
    found = statistics(turns, until=START + HOUR, low_impact_before=0, rhythm=RHYTHM)
    assert (found.kept, found.high_impact_seconds) == ((0, 1), 0.0)
