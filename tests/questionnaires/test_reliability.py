"""Alpha and omega against published examples, and against models whose omega is known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from questionnaires.reliability import (
    NotComputable,
    Obstacle,
    alpha,
    complete,
    covariance,
    item_total,
    omega,
    one_factor,
)

Matrix = NDArray[np.float64]
#: UCLA Statistical Consulting, "What does Cronbach's alpha mean?": covariances of q1–q4; the page
#: gives an average variance of 1.160, an average covariance of .656 and alpha = .839.
UCLA = np.array(
    [
        [1.168, 0.557, 0.574, 0.673],
        [0.557, 1.012, 0.690, 0.720],
        [0.574, 0.690, 1.169, 0.724],
        [0.673, 0.720, 0.724, 1.291],
    ]
)
#: Spearman's marks in Classics, French and English, in Mardia, Kent & Bibby (1979), *Multivariate
#: Analysis*, example 9.2.1: loadings .983, .844, .793 and unique variances .034, .287, .370.
SPEARMAN = np.array([[1.0, 0.83, 0.78], [0.83, 1.0, 0.67], [0.78, 0.67, 1.0]])
#: Four people, three items; reckoned by hand below.
PEOPLE: list[list[float | None]] = [
    [1.0, 2.0, 2.0],
    [2.0, 2.0, 3.0],
    [3.0, 4.0, 3.0],
    [4.0, 4.0, 4.0],
]


def of_one_factor(loadings: list[float], unique: list[float]) -> Matrix:
    """The covariance matrix λλᵀ + Ψ, of which omega is (Σλ)² / ((Σλ)² + Σψ) by definition."""
    vector = np.array(loadings)
    return np.outer(vector, vector) + np.diag(unique)


def test_alpha_of_the_published_covariances() -> None:
    assert round(alpha(UCLA), 3) == 0.839


def test_alpha_by_hand() -> None:
    # Variances 5/3, 4/3, 2/3; sums 5, 7, 10, 12 with variance 29/3; 3/2 · (1 − (11/3) / (29/3)).
    matrix = covariance(PEOPLE)
    assert np.diag(matrix) == pytest.approx([5 / 3, 4 / 3, 2 / 3])
    assert alpha(matrix) == pytest.approx(27 / 29)


def test_item_total_correlations_by_hand() -> None:
    # Item 1 with items 2 + 3: 4, 5, 7, 8; covariance 7/3, variances 5/3 and 10/3.
    first, second, third = item_total(covariance(PEOPLE))
    assert first == pytest.approx((7 / 3) / np.sqrt(5 / 3 * 10 / 3))
    assert second == pytest.approx((2.0) / np.sqrt(4 / 3 * 13 / 3))
    assert third == pytest.approx((5 / 3) / np.sqrt(2 / 3 * 17 / 3))


def test_the_published_one_factor_model() -> None:
    found = one_factor(SPEARMAN)
    assert [round(each, 3) for each in found.loadings] == [0.983, 0.844, 0.793]
    assert [round(each, 3) for each in found.unique] == [0.034, 0.287, 0.370]
    # (.983 + .844 + .793)² / ((.983 + .844 + .793)² + .034 + .287 + .370) = 6.8644 / 7.5554
    assert omega(SPEARMAN) == pytest.approx(0.9085, abs=5e-4)


@pytest.mark.parametrize(
    ("loadings", "unique", "expected"),
    [
        ([0.8, 0.7, 0.6, 0.5], [0.36, 0.51, 0.64, 0.75], 6.76 / 9.02),
        ([0.7, 0.7, 0.7], [0.51, 0.51, 0.51], 4.41 / 5.94),
        ([2.0, 1.0, 3.0, 0.5], [1.0, 2.0, 0.25, 1.75], 42.25 / 47.25),  # of unlike variances
        ([0.9, 0.8, -0.4], [0.19, 0.36, 0.84], 1.69 / 3.08),  # one that should be reversed
    ],
)
def test_omega_of_a_known_model_is_exact(
    loadings: list[float], unique: list[float], expected: float
) -> None:
    matrix = of_one_factor(loadings, unique)
    assert one_factor(matrix).loadings == pytest.approx(loadings, abs=1e-6)
    assert omega(matrix) == pytest.approx(expected, abs=1e-6)


def test_omega_is_alpha_where_all_loadings_are_equal() -> None:
    matrix = of_one_factor([1.2] * 5, [0.5, 1.5, 1.0, 2.0, 0.25])
    assert omega(matrix) == pytest.approx(alpha(matrix))


def test_an_impossible_loading_is_held_at_one() -> None:
    heywood = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, 0.5], [0.9, 0.5, 1.0]])
    found = one_factor(heywood)
    assert found.loadings[0] == 1.0
    assert found.unique[0] == 0.0
    assert found.omega < 1.0


def test_people_with_a_missing_answer_are_left_out() -> None:
    answers: list[list[float | None]] = [*PEOPLE, [None, 1.0, 1.0], [7.0, None, None]]
    assert complete(answers).tolist() == PEOPLE
    assert alpha(covariance(answers)) == pytest.approx(27 / 29)


@pytest.mark.parametrize(
    ("answers", "obstacle", "items"),
    [
        ([], Obstacle.FEW_PEOPLE, ()),
        (PEOPLE[:2], Obstacle.FEW_PEOPLE, ()),
        ([*PEOPLE[:2], [None, 1.0, 2.0]], Obstacle.FEW_PEOPLE, ()),
        ([[1.0, 4.0, 2.0], [2.0, 4.0, 3.0], [3.0, 4.0, 1.0]], Obstacle.CONSTANT_ITEM, (1,)),
        ([[0.1, 1.0], [0.1, 2.0], [0.1, 3.0]], Obstacle.CONSTANT_ITEM, (0,)),
    ],
)
def test_what_no_covariance_can_be_had_of(
    answers: list[list[float | None]], obstacle: Obstacle, items: tuple[int, ...]
) -> None:
    with pytest.raises(NotComputable) as refused:
        covariance(answers)
    assert (refused.value.obstacle, refused.value.items) == (obstacle, items)


def half_turned() -> Matrix:
    """Four items of which two are worded the other way round, and nobody said so."""
    return covariance([[answer, answer, 4 - answer, 4 - answer] for answer in (1.0, 3.0, 1.0)])


def test_a_fine_scale_has_the_same_alpha() -> None:
    assert alpha(UCLA * 1e-12) == pytest.approx(alpha(UCLA))


def test_what_no_coefficient_can_be_had_of() -> None:
    opposed = np.array([[1.0, -1.0], [-1.0, 1.0]])
    cases = [
        (alpha, np.array([[1.0]]), Obstacle.FEW_ITEMS),
        (alpha, opposed, Obstacle.CONSTANT_SUM),
        (omega, opposed, Obstacle.FEW_ITEMS),
        (omega, half_turned(), Obstacle.CONSTANT_SUM),
        (alpha, half_turned() * 1e-12, Obstacle.CONSTANT_SUM),
        (omega, np.eye(3), Obstacle.NO_FACTOR),
        (omega, np.diag([1.0, 0.0, 1.0]), Obstacle.CONSTANT_ITEM),
    ]
    for coefficient, matrix, obstacle in cases:
        with pytest.raises(NotComputable) as refused:
            coefficient(matrix)
        assert refused.value.obstacle == obstacle
    assert item_total(opposed) == (-1.0, -1.0)


loading = st.floats(0.3, 0.95)


@settings(max_examples=50, deadline=None)
@given(st.lists(loading, min_size=3, max_size=8), st.floats(0.1, 10.0))
def test_any_true_one_factor_model_is_found(loadings: list[float], scale: float) -> None:
    unique = [1 - each**2 for each in loadings]
    matrix = of_one_factor(loadings, unique) * scale
    expected = sum(loadings) ** 2 / (sum(loadings) ** 2 + sum(unique))
    assert omega(matrix) == pytest.approx(expected, abs=1e-4)
