from __future__ import annotations

import math
import subprocess
import sys
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.formulas.confidence import Band, band, keyword_overlap, reinforced, weakened


def test_four_contradictions_make_a_memory_vanish() -> None:
    life = [1.0]
    while life[-1] > 0:
        life.append(weakened(confidence=life[-1]))
    assert life == [1.0, 0.75, 0.5, 0.25, 0.0]


def test_a_weakened_preference_recovers_step_by_step() -> None:
    life = [0.5]
    while life[-1] < 1:
        life.append(reinforced(confidence=life[-1], factual=False))
    assert life == [0.5, 0.7, 0.9, 1.0]


def test_a_fact_recovers_at_once() -> None:
    assert reinforced(confidence=0.25, factual=True) == 1.0


def test_steps_are_parameters() -> None:
    assert weakened(confidence=0.5, drop=0.4) == 0.1
    assert reinforced(confidence=0.1, factual=False, boost=0.2) == 0.3


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (1.0, "confirmed"),
        (0.6, "confirmed"),
        (0.59, "uncertain"),
        (0.5, "uncertain"),
        (0.3, "uncertain"),
        (0.29, "hidden"),
        (0.25, "hidden"),
        (0.0, "hidden"),
    ],
)
def test_bands_match_the_table(confidence: float, expected: str) -> None:
    assert band(confidence=confidence) == expected
    assert band(confidence=confidence) is Band(expected)


def test_thresholds_are_parameters() -> None:
    assert band(confidence=0.5, confirm=0.5, show=0.5) is Band.CONFIRMED
    assert band(confidence=0.4, confirm=0.8, show=0.4) is Band.UNCERTAIN


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("a", "b"), ("b", "a", "a"), 1.0),
        (("a", "b"), ("b", "c"), 1 / 3),
        (("a", "b", "c"), ("a", "b"), 2 / 3),
        (("a",), ("b",), 0.0),
        ((), (), 0.0),
        (("a",), (), 0.0),
    ],
)
def test_overlap_is_shared_words_by_all_words(
    first: tuple[str, ...], second: tuple[str, ...], expected: float
) -> None:
    assert keyword_overlap(first=first, second=second) == expected


@given(st.lists(st.sampled_from(["weaken", "reinforce", "confirm"]), max_size=60))
def test_confidence_stays_in_its_bounds_and_on_its_grid(signals: list[str]) -> None:
    steps = {
        "weaken": lambda c: weakened(confidence=c),
        "reinforce": lambda c: reinforced(confidence=c, factual=False),
        "confirm": lambda c: reinforced(confidence=c, factual=True),
    }
    confidence = reduce(lambda c, signal: steps[signal](c), signals, 1.0)
    assert 0.0 <= confidence <= 1.0
    # Every step is a multiple of 0.05, and nothing drifts off it.
    assert confidence == round(round(confidence * 20) / 20, 9)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_contradiction_never_helps_and_a_mention_never_harms(c: float, step: float) -> None:
    assert weakened(confidence=c, drop=step) <= c + 1e-9
    assert reinforced(confidence=c, factual=False, boost=step) >= c - 1e-9


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: weakened(confidence=1.01), "confidence must lie in"),
        (lambda: weakened(confidence=math.nan), "confidence must lie in"),
        (lambda: weakened(confidence=1.0, drop=-0.1), "drop must lie in"),
        (lambda: reinforced(confidence=-0.1, factual=True), "confidence must lie in"),
        (lambda: reinforced(confidence=0.5, factual=False, boost=2), "boost must lie in"),
        (lambda: band(confidence=0.5, confirm=0.3, show=0.6), "show must lie in"),
    ],
)
def test_values_out_of_range_are_refused(call: object, complaint: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=complaint):
        call()


def test_the_formulas_need_no_django() -> None:
    program = (
        "import sys, memory.formulas.confidence;"
        "assert not [name for name in sys.modules if name.startswith('django')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={})
