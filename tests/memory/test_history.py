"""Counting a memory's rows over time from its events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memory.history import census
from tests.memory.dialogue import identified

START = datetime(2026, 1, 5, tzinfo=UTC)


def at(days: float) -> datetime:
    return START + timedelta(days=days)


def test_a_census_counts_what_was_there_at_each_moment() -> None:
    one, two, three = (identified(name) for name in ("one", "two", "three"))
    events = [
        (at(1), "encoded", "episode", one),
        (at(1), "encoded", "trait", two),
        (at(2), "recalled", "episode", one),
        (at(3), "encoded", "episode", three),
        (at(3), "evicted", "episode", one),
        (at(5), "expired", "trait", two),
    ]
    moments = [at(0), at(1), at(2.5), at(3), at(9)]
    assert list(census(events, moments)) == [
        {},
        {"episode": 1, "trait": 1},
        {"episode": 1, "trait": 1},
        {"episode": 1, "trait": 1},
        {"episode": 1},
    ]
