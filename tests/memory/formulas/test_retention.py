from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.formulas.retention import archive_after, score

importances = st.floats(0.0, 1.0)
hits = st.integers(0, 1000)
rates = st.floats(1e-3, 1.0)


@pytest.mark.parametrize(
    ("importance", "times", "after"), [(0.9, 0, 15.0), (0.2, 0, 1.0), (0.9, 2, 51.0)]
)
def test_when_an_item_leaves(importance: float, times: int, after: float) -> None:
    assert archive_after(importance=importance, hits=times) == after


@pytest.mark.parametrize(
    ("importance", "times", "elapsed", "expected"),
    [
        (0.9, 0, 0, 0.9),
        (0.9, 0, 15, 0.15),
        (0.2, 0, 1, 0.15),
        (0.9, 2, 51, 0.15),
        (0.5, 1, 30, -0.5),
    ],
)
def test_score(importance: float, times: int, elapsed: float, expected: float) -> None:
    assert score(importance=importance, hits=times, elapsed=elapsed) == pytest.approx(expected)


def test_threshold_and_rate_are_the_callers() -> None:
    assert archive_after(importance=0.5, hits=0, threshold=0.1, rate=0.1) == 4.0
    assert score(importance=0.5, hits=0, elapsed=2, rate=0.1) == pytest.approx(0.3)


@pytest.mark.parametrize("importance", [0.0, 0.1, 0.15])
def test_what_never_rose_above_the_threshold_leaves_at_once(importance: float) -> None:
    assert archive_after(importance=importance, hits=0) == 0.0
    assert archive_after(importance=importance, hits=0, rate=0.0) == 0.0


def test_without_a_rate_nothing_leaves() -> None:
    assert archive_after(importance=0.2, hits=0, rate=0.0) == math.inf


@given(importances, hits, rates)
def test_the_score_reaches_the_threshold_when_the_item_leaves(
    importance: float, times: int, rate: float
) -> None:
    after = archive_after(importance=importance, hits=times, rate=rate)
    last = score(importance=importance, hits=times, elapsed=after, rate=rate)
    assert last == pytest.approx(min(0.15, importance * (1 + times)), abs=1e-6)


@given(importances, hits)
def test_each_hit_keeps_an_item_longer(importance: float, times: int) -> None:
    before = archive_after(importance=importance, hits=times)
    assert archive_after(importance=importance, hits=times + 1) >= before


@pytest.mark.parametrize(
    "wrong",
    [
        {"importance": 1.1},
        {"importance": float("nan")},
        {"hits": -1},
        {"rate": -0.1},
        {"threshold": float("inf")},
    ],
)
def test_values_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        archive_after(**{"importance": 0.5, "hits": 0, **wrong})
    if "threshold" not in wrong:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            score(**{"importance": 0.5, "hits": 0, "elapsed": 1.0, **wrong})
