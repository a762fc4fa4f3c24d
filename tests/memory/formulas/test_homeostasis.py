from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.formulas import homeostasis
from memory.formulas.homeostasis import Slow

UNIT = st.floats(0, 1)
ERROR = st.floats(-1, 1)
MOVED = st.floats(-1, 1)
STATES = st.tuples(UNIT, UNIT, UNIT, UNIT, UNIT)


@pytest.mark.parametrize(
    ("value", "baseline", "half_life", "hours", "expected"),
    [
        (1.0, 0.5, 2.0, 0.0, 1.0),
        (1.0, 0.5, 2.0, 2.0, 0.75),
        (1.0, 0.5, 2.0, 4.0, 0.625),
        (0.9, 0.3, 0.5, 0.5, 0.6),
        (0.2, 0.6, 12.0, 12.0, 0.4),
        (0.0, 0.6, 12.0, 24.0, 0.45),
    ],
)
def test_half_of_the_way_back_takes_a_half_life(
    value: float, baseline: float, half_life: float, hours: float, expected: float
) -> None:
    back = homeostasis.returned(value=value, baseline=baseline, half_life=half_life, hours=hours)
    assert back == pytest.approx(expected, abs=1e-15)


@given(UNIT, UNIT, st.floats(0.1, 100), st.floats(0, 1000), st.integers(1, 1000))
@settings(max_examples=50, deadline=None)
def test_ticking_once_or_a_thousand_times_ends_in_the_same_place(
    value: float, baseline: float, half_life: float, hours: float, ticks: int
) -> None:
    at_once = homeostasis.returned(value=value, baseline=baseline, half_life=half_life, hours=hours)
    ticked = value
    for _ in range(ticks):
        ticked = homeostasis.returned(
            value=ticked, baseline=baseline, half_life=half_life, hours=hours / ticks
        )
    assert ticked == pytest.approx(at_once, abs=1e-12)


def test_expectations_follow_what_is_observed() -> None:
    error = homeostasis.prediction_error(observed=0.8, expected=0.3)
    assert error == pytest.approx(0.5)
    assert homeostasis.expectation(expected=0.3, error=error, alpha=0.1) == pytest.approx(0.35)
    assert homeostasis.expectation(expected=0.3, error=error, alpha=0.2) == pytest.approx(0.4)


@given(UNIT, UNIT, UNIT)
def test_an_expectation_stays_between_0_and_1(
    expected: float, observed: float, alpha: float
) -> None:
    error = homeostasis.prediction_error(observed=observed, expected=expected)
    assert 0 <= homeostasis.expectation(expected=expected, error=error, alpha=alpha) <= 1


@pytest.mark.parametrize(
    ("offensiveness", "valence", "reward", "threat"),
    [(0.0, 0.6, 0.6, 0.0), (0.0, -0.6, 0.0, 0.6), (0.9, -0.6, 0.0, 0.9), (0.2, 0.5, 0.5, 0.2)],
)
def test_reward_and_threat_are_separate_channels(
    offensiveness: float, valence: float, reward: float, threat: float
) -> None:
    assert homeostasis.observed_reward(valence=valence) == reward
    assert homeostasis.observed_threat(offensiveness=offensiveness, valence=valence) == threat


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0.5] * 5, [0.5] * 5, 1.0),
        ([0.0] * 5, [0.2] * 5, 0.606531),  # e^(−1/2)
        ([0.5, 1.0, 0.5, 0.3, 0.6], [0.5, 1.0, 0.9, 0.3, 0.6], 0.670320),
        ([0.0] * 5, [1.0] * 5, 0.000004),
    ],
)
def test_states_match(a: list[float], b: list[float], expected: float) -> None:
    assert round(homeostasis.state_match(a=a, b=b), 6) == expected


@given(STATES, STATES)
def test_a_state_match_is_symmetric_and_between_0_and_1(
    a: tuple[float, ...], b: tuple[float, ...]
) -> None:
    match = homeostasis.state_match(a=a, b=b)
    assert 0 <= match <= 1
    assert match == homeostasis.state_match(a=b, b=a)


@pytest.mark.parametrize(
    ("error", "match", "recency", "expected"),
    [(0.0, 0.0, 0.0, 0.0), (-0.8, 0.5, 0.5, 0.65), (0.6, 1.0, 1.0, 0.8), (1.8, 1.0, 1.0, 1.0)],
)
def test_importance(error: float, match: float, recency: float, expected: float) -> None:
    weighed = homeostasis.importance(error=error, match=match, recency=recency)
    assert weighed == pytest.approx(expected)


def test_recency_is_e_to_the_minus_one_after_a_day() -> None:
    assert round(homeostasis.recency(age_hours=24), 6) == 0.367879
    assert homeostasis.recency(age_hours=0) == 1.0


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [(0.0, 1.0, 0.02), (0.0, -1.0, -0.02), (0.1, 0.105, 0.105), (0.1, 0.1, 0.1)],
)
def test_a_slow_step_is_small(value: float, target: float, expected: float) -> None:
    assert homeostasis.slow_step(value=value, target=target) == expected


@given(MOVED, st.integers(0, 10), st.floats(-1e9, 1e9), st.floats(0, 0.5))
def test_no_evidence_of_any_size_moves_a_slow_variable_by_more_than_the_limit(
    mu: float, opposed: int, target: float, limit: float
) -> None:
    slow = Slow(mu=mu, opposed=opposed)
    after = homeostasis.shifted(slow=slow, target=target, limit=limit)
    assert abs(after.mu - mu) <= limit + 1e-12


def test_extinction_begins_with_the_third_run_in_a_row_against_the_deviation() -> None:
    lives, slow = [], Slow(mu=0.05)
    for _ in range(4):
        slow = homeostasis.shifted(slow=slow, target=-0.001)
        lives.append((round(slow.mu, 6), slow.opposed))
    # Two steps of 0.02; the third of 0.011 and a tenth of 0.01; then μ is on the other side.
    assert lives == [(0.03, 1), (0.01, 2), (-0.002, 3), (-0.001, 0)]


def test_a_run_that_agrees_ends_the_row() -> None:
    slow = Slow(mu=0.1, opposed=2)
    assert homeostasis.shifted(slow=slow, target=0.5) == Slow(mu=0.1 + 0.02, opposed=0)
    assert homeostasis.shifted(slow=slow, target=0.0).opposed == 0


@given(st.floats(0.001, 0.5), st.floats(-0.01, -1e-6))
@settings(max_examples=50, deadline=None)
def test_extinction_returns_a_slow_variable(mu: float, target: float) -> None:
    slow = Slow(mu=mu)
    for _ in range(math.ceil(mu / 0.02) + 2):
        slow = homeostasis.shifted(slow=slow, target=target)
    assert abs(slow.mu) <= 0.0121


def test_scores_of_the_four_bins() -> None:
    assert homeostasis.fact_score(relevance=0.8, match=0.5) == pytest.approx(0.88)
    relation = homeostasis.fading_score(importance=0.8, age_days=30, match=1.0)
    assert round(relation, 6) == 0.317848  # 0.9 · 0.8 · e^−1 · 1.2
    affect = homeostasis.fading_score(
        importance=0.8, age_days=7, match=0.5, weight=0.7, time_constant=7.0
    )
    assert round(affect, 6) == 0.226614  # 0.7 · 0.8 · e^−1 · 1.1
    assert homeostasis.style_score(match=0.5) == pytest.approx(0.275)
    assert homeostasis.biased(score=0.5, match=0.0) == 0.5


def test_nonsense_raises() -> None:
    with pytest.raises(ValueError, match="half_life"):
        homeostasis.returned(value=1, baseline=0, half_life=0, hours=1)
    with pytest.raises(ValueError, match="hours"):
        homeostasis.returned(value=1, baseline=0, half_life=1, hours=-1)
    with pytest.raises(ValueError, match="finite"):
        homeostasis.prediction_error(observed=math.nan, expected=0)
    with pytest.raises(ValueError, match="alpha"):
        homeostasis.expectation(expected=0, error=0, alpha=2)
    with pytest.raises(ValueError, match="5 variables"):
        homeostasis.state_match(a=[0.5] * 4, b=[0.5] * 5)
    with pytest.raises(ValueError, match="match"):
        homeostasis.importance(error=0, match=1.1, recency=0)
    with pytest.raises(ValueError, match="target"):
        homeostasis.slow_step(value=0, target=math.inf)
    with pytest.raises(ValueError, match="valence"):
        homeostasis.observed_reward(valence=2)


def test_formulas_need_no_django() -> None:
    code = (
        "import sys, memory.formulas.homeostasis, memory.formulas.regulation;"
        "sys.exit('django' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
