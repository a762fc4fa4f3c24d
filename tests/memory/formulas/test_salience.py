from __future__ import annotations

import pytest

from memory.formulas.salience import emotional_salience


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ((0.7, 0.7, 0.7), 0.70),
        ((0.3, 0.2, 0.4), 0.28),
        ((0.0, 0.0, 0.0), 0.0),
        ((0.8, 1.0, 0.6), 0.84),
        ((1.0, 1.0, 1.0), 1.0),
    ],
)
def test_salience_matches_the_table(ratings: tuple[float, float, float], expected: float) -> None:
    intensity, self_disclosure, value_relevance = ratings
    salience = emotional_salience(
        intensity=intensity, self_disclosure=self_disclosure, value_relevance=value_relevance
    )
    assert salience == pytest.approx(expected, abs=1e-12)
    assert salience <= 1.0


def test_weights_are_a_parameter() -> None:
    assert emotional_salience(
        intensity=1.0, self_disclosure=0.0, value_relevance=0.5, weights=(0.5, 0.0, 0.5)
    ) == pytest.approx(0.75)


@pytest.mark.parametrize("weights", [(0.4, 0.4, 0.4), (1.2, -0.2, 0.0)])
def test_weights_that_are_no_weights_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        emotional_salience(intensity=0.5, self_disclosure=0.5, value_relevance=0.5, weights=weights)


def test_ratings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="self_disclosure must lie in"):
        emotional_salience(intensity=0.5, self_disclosure=1.5, value_relevance=0.5)
