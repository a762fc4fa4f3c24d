from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.formulas import forgetting

RELEVANCE = st.floats(0, 1)
SALIENCE = st.floats(0, 1)
DAYS = st.floats(0, 3650)
G = st.floats(0.01, 1000)


@pytest.mark.parametrize(
    ("relevance", "days", "g", "expected"),
    [
        (1, 0, 1, 1.000000),
        (0.8, 0, 1, 0.871149),
        (0.8, 1, 1, 0.403324),
        (0.9, 0.5, 1.35, 0.732178),
        (0.7, 2, 3, 0.477598),
        (0.5, 0, 1, 0.622459),
    ],
)
def test_recall_probability_matches_the_table(
    relevance: float, days: float, g: float, expected: float
) -> None:
    probability = forgetting.recall_probability(
        relevance=relevance, elapsed_days=days, consolidation=g
    )
    assert round(probability, 6) == expected


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, 0), (0.5, 0.244919), (1, 0.462117), (2, 0.761594), (7, 0.998178), (30, 1.000000)],
)
def test_spacing_effect_matches_the_table(days: float, expected: float) -> None:
    assert round(forgetting.spacing_effect(elapsed_days=days), 6) == expected


def test_an_episodes_life_matches_the_table() -> None:
    g = forgetting.initial_consolidation(salience=0.7)
    life = [g]
    for days in (1, 2, 4):
        g = forgetting.reconsolidated(consolidation=g, elapsed_days=days, salience=0.7)
        life.append(round(g, 6))
    assert life == [1.35, 1.973858, 3.002010, 4.303448]


@pytest.mark.parametrize(("salience", "expected"), [(0, 1.0), (0.7, 1.35), (1, 1.5)])
def test_initial_consolidation_grows_with_salience(salience: float, expected: float) -> None:
    assert forgetting.initial_consolidation(salience=salience) == expected


def test_final_probability_adds_the_bonus_up_to_certainty() -> None:
    assert forgetting.final_probability(probability=0.5, salience=0.7) == pytest.approx(0.535)
    assert forgetting.final_probability(probability=0.98, salience=1.0) == 1.0
    assert forgetting.final_probability(probability=0.5, salience=1.0, bonus=0.0) == 0.5


@pytest.mark.parametrize(
    ("threshold", "expected"), [(0.86, 0.7844), (0.60, 0.4769), (0.45, 0.3347)]
)
def test_required_cue_matches_the_table(threshold: float, expected: float) -> None:
    assert round(forgetting.required_cue(threshold=threshold), 4) == expected


@pytest.mark.parametrize(
    ("g", "threshold", "expected"), [(1, 0.86, 0.243), (3, 0.60, 2.22), (20, 0.45, 21.89)]
)
def test_recallable_days_matches_the_presets(g: float, threshold: float, expected: float) -> None:
    days = forgetting.recallable_days(consolidation=g, threshold=threshold)
    assert days == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(("days", "expected"), [(7, 0.475), (14, 0.674), (22, None)])
def test_least_recallable_relevance_matches_the_weekly_preset(
    days: float, expected: float | None
) -> None:
    least = forgetting.least_recallable_relevance(
        elapsed_days=days, consolidation=20, threshold=0.45
    )
    assert least == (expected if expected is None else pytest.approx(expected, abs=0.0005))


def test_a_memory_whose_salience_alone_passes_is_never_forgotten() -> None:
    arguments = {"threshold": 0.05, "salience": 1.0, "consolidation": 1.0}
    assert forgetting.recallable_days(**arguments) == math.inf
    assert forgetting.least_recallable_relevance(elapsed_days=1e6, **arguments) == 0.0


def test_a_perfect_cue_passes_the_highest_threshold_at_once() -> None:
    least = forgetting.least_recallable_relevance(elapsed_days=0, consolidation=1, threshold=1.0)
    assert least == 1.0


@given(relevance=RELEVANCE, days=DAYS, g=G)
def test_probability_stays_within_bounds(relevance: float, days: float, g: float) -> None:
    probability = forgetting.recall_probability(
        relevance=relevance, elapsed_days=days, consolidation=g
    )
    assert 0.0 <= probability <= 1.0


@given(days=DAYS, g=G, threshold=st.floats(0.01, 1), salience=SALIENCE)
def test_least_relevance_is_where_the_threshold_is_reached(
    days: float, g: float, threshold: float, salience: float
) -> None:
    least = forgetting.least_recallable_relevance(
        elapsed_days=days, consolidation=g, threshold=threshold, salience=salience
    )
    best = forgetting.final_probability(
        probability=forgetting.recall_probability(
            relevance=1.0 if least is None else least, elapsed_days=days, consolidation=g
        ),
        salience=salience,
    )
    if least is None:
        assert best <= threshold + 1e-9
    elif least > 0:
        assert best == pytest.approx(threshold, abs=1e-9)
    else:
        assert best >= threshold - 1e-9


@given(g=G, days=DAYS, salience=SALIENCE, alpha=st.floats(0, 10))
def test_a_recall_never_weakens(g: float, days: float, salience: float, alpha: float) -> None:
    stronger = forgetting.reconsolidated(
        consolidation=g, elapsed_days=days, salience=salience, alpha=alpha
    )
    assert g <= stronger <= g + 1 + alpha * salience + 1e-9


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"relevance": 1.01}, "relevance must lie in"),
        ({"relevance": -0.01}, "relevance must lie in"),
        ({"relevance": math.nan}, "relevance must lie in"),
        ({"elapsed_days": -1}, "elapsed_days must be 0 or more"),
        ({"elapsed_days": math.inf}, "elapsed_days must be 0 or more"),
        ({"consolidation": 0}, "consolidation must be above 0"),
    ],
)
def test_values_out_of_range_are_refused(changed: dict[str, float], complaint: str) -> None:
    given_values = {"relevance": 0.5, "elapsed_days": 1.0, "consolidation": 1.0} | changed
    with pytest.raises(ValueError, match=complaint):
        forgetting.recall_probability(**given_values)


def test_formulas_need_no_django() -> None:
    program = (
        "import sys, memory.formulas.forgetting, memory.formulas.salience;"
        "assert not [name for name in sys.modules if name.startswith('django')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={})
