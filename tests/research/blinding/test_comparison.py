"""Ranks, corrections and verdicts, by numbers that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from memlab.research.blinding.comparison import (
    PERMUTATIONS,
    Measured,
    compared,
    holm,
    mean_ranks,
    p_value,
    superiority,
)


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert mean_ranks(np.array([10.0, 30.0, 10.0, 20.0])).tolist() == [1.5, 4.0, 1.5, 3.0]


def test_holm_multiplies_by_how_many_are_left_and_never_goes_down() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([0.4, 0.6]) == pytest.approx([0.8, 0.8])


def test_superiority_is_how_often_one_value_is_above_another() -> None:
    assert superiority(np.array([2.0, 3.0]), np.array([1.0, 2.0])) == 0.875
    assert superiority(np.array([1.0, 1.0]), np.array([1.0])) == 0.5


def test_the_p_value_is_that_of_all_ways_to_deal_out_the_labels() -> None:
    """Three and three: of the 20 ways to deal six values out, 2 part them as far."""
    groups = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])]
    assert p_value(groups, np.random.default_rng(5)) == pytest.approx(0.1, abs=0.015)


def test_groups_without_a_difference_have_the_largest_p() -> None:
    same = [np.full(5, 7.0), np.full(5, 7.0)]
    assert p_value(same, np.random.default_rng(5)) == 1.0


def test_a_difference_is_found_named_and_sized() -> None:
    random = np.random.default_rng(7)
    noise = {arm: random.normal(600, 5, size=40).tolist() for arm in ("a", "b", "c")}
    slow = {**noise, "c": [value + 10 for value in noise["c"]]}
    same, different = compared(
        [
            Measured(name="ack", unit="ms", arms=noise),
            Measured(name="first token", unit="ms", arms=slow),
        ],
        random,
    )
    assert not same.differs
    assert different.differs
    assert different.p == 1 / (PERMUTATIONS + 1)
    assert different.most == "c"
    assert 7 < different.spread < 13
    assert different.told > 0.8
    assert different.count == 40
