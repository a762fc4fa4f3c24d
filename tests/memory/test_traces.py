"""What is drawn of a memory follows from its events and the formulas."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.models import MemoryEvent
from memory.traces import spans, trace
from tests.memory.dialogue import identified

START = datetime(2026, 1, 5, tzinfo=UTC)
EPISODE = {"time_unit": "days", "recall_bonus": 0.05, "recall_threshold": 0.45}
RETENTION = {"time_unit": "days", "rate": 0.05, "archive_threshold": 0.15}
BELIEF = {"confirm_threshold": 0.6, "show_threshold": 0.3}


def at(days: float) -> datetime:
    return START + timedelta(days=days)


def happened(kind: str, event: str, days: float, **after: Any) -> MemoryEvent:
    return MemoryEvent(
        lab_id=1,
        memory_kind=kind,
        memory_id=identified("one"),
        event=event,
        after=after or None,
        study_at=at(days),
    )


def test_an_episode_fades_between_recalls_and_comes_back_with_them() -> None:
    events = [
        happened("episode", "encoded", 0, g=1.0, salience=0.0, anchor=at(0).isoformat()),
        happened("episode", "recalled", 1, g=1.5, anchor=at(1).isoformat()),
    ]
    found = trace(events, EPISODE, until=at(3))
    assert found is not None
    points = found.points
    assert [points[number][0] for number in (0, 32, 33, -1)] == [at(0), at(1), at(1), at(3)]
    assert points[0][1] == pytest.approx(1.0)
    assert points[32][1] == pytest.approx(0.486931, abs=1e-6)  # r = 1, one day, g = 1
    assert points[33][1] == pytest.approx(1.0)
    assert [value for _label, value in found.marks] == [0.45]


def test_a_belief_is_drawn_in_steps_with_its_two_thresholds() -> None:
    events = [
        happened("belief", "encoded", 0, confidence=1.0),
        happened("belief", "weakened", 2, confidence=0.75),
    ]
    found = trace(events, BELIEF, until=at(3))
    assert found is not None
    assert found.points == [(at(0), 1.0), (at(2), 1.0), (at(2), 0.75), (at(3), 0.75)]
    assert [value for _label, value in found.marks] == [0.6, 0.3]


def test_a_level_is_drawn_on_its_ladder() -> None:
    events = [
        happened("compressible", "encoded", 0, level="full"),
        happened("compressible", "compressed", 7, level="summary"),
    ]
    found = trace(events, {}, until=at(8))
    assert found is not None
    assert found.levels == ("Archived", "Trace", "Tags", "Summary", "Full text")
    assert [value for _at, value in found.points] == [4.0, 4.0, 3.0, 3.0]


def test_a_retained_item_loses_its_score_with_time() -> None:
    encoded = happened(
        "retained", "encoded", 0, importance=0.9, hits=0, anchor=at(0).isoformat(), state="working"
    )
    found = trace([encoded], RETENTION, until=at(15))
    assert found is not None
    assert found.points[0][1] == pytest.approx(0.9)
    assert found.points[-1][0] == at(15)
    assert found.points[-1][1] == pytest.approx(0.15)


def test_what_has_gone_is_drawn_until_it_went() -> None:
    events = [
        happened("belief", "encoded", 0, confidence=0.25),
        happened("belief", "forgotten", 4),
    ]
    assert [(span.begin, span.end) for span in spans(events, at(9))] == [(at(0), at(4))]


def test_a_kind_of_a_plugin_is_drawn_by_the_number_that_changes() -> None:
    events = [
        happened("pebble", "encoded", 0, size=3, weight=1.0),
        happened("pebble", "mentioned", 1, weight=0.5),
    ]
    found = trace(events, {}, until=at(2))
    assert found is not None
    assert (found.measure, found.points[-1]) == ("weight", (at(2), 0.5))


def test_what_never_changes_is_not_drawn() -> None:
    assert trace([happened("trait", "encoded", 0, salience=0.3)], {}, until=at(2)) is None
