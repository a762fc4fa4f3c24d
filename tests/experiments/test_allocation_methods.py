"""Simple draws and minimisation: balanced, reproducible, and by hand-computed imbalances."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.allocation import Placed, minimised_draw, simple_draw

EQUAL = {"a": 1, "b": 1, "c": 1}


def simple(count: int, weights: dict[str, int], seed: str = "seed") -> Counter[str]:
    return Counter(simple_draw(number, seed=seed, weights=weights) for number in range(count))


def test_ten_thousand_simple_draws_follow_the_weights() -> None:
    """χ² with 2 degrees of freedom: 13.8 is p = 0.001."""
    drawn = simple(10_000, {"a": 1, "b": 2, "c": 1})
    expected = {"a": 2500, "b": 5000, "c": 2500}
    assert sum((drawn[arm] - n) ** 2 / n for arm, n in expected.items()) < 13.8


def test_a_simple_draw_does_not_depend_on_the_one_before() -> None:
    """χ² of pairs of successive draws: 8 degrees of freedom, 26.1 is p = 0.001."""
    arms = [simple_draw(number, seed="seed", weights=EQUAL) for number in range(10_001)]
    pairs = Counter(pairwise(arms))
    expected = 10_000 / 9
    cells = [(one, two) for one in EQUAL for two in EQUAL]
    assert sum((pairs[cell] - expected) ** 2 / expected for cell in cells) < 26.1


def test_a_simple_draw_is_the_seeds_alone() -> None:
    first = [simple_draw(number, seed="one", weights=EQUAL) for number in range(50)]
    assert first == [simple_draw(number, seed="one", weights=EQUAL) for number in range(50)]
    assert first != [simple_draw(number, seed="two", weights=EQUAL) for number in range(50)]


def test_the_imbalance_is_what_a_hand_computes() -> None:
    """Two factors. Women: a 2, b 1, c 0; over 60: a 1, b 1, c 2. If a were taken: ranges of
    (3, 1, 0) and (2, 1, 2), 3 + 1; b: (2, 2, 0) and (1, 2, 2), 2 + 1; c: (2, 1, 1) and (1, 1, 3),
    1 + 2."""
    earlier = [
        Placed({"sex": "f", "age": "young"}, "a"),
        Placed({"sex": "f", "age": "old"}, "a"),
        Placed({"sex": "f", "age": "old"}, "b"),
        Placed({"sex": "m", "age": "old"}, "c"),
        Placed({"sex": "m", "age": "old"}, "c"),
        Placed({"sex": "m", "age": "young"}, "a"),
    ]
    drawn = minimised_draw(
        6,
        seed="seed",
        levels={"sex": "f", "age": "old"},
        earlier=earlier,
        weights=EQUAL,
        probability=1.0,
    )
    assert drawn.imbalance == {"a": 4.0, "b": 3.0, "c": 3.0}
    assert drawn.preferred == ("b", "c")
    assert drawn.arm in ("b", "c")


def walk(
    count: int, weights: dict[str, int], probability: float, seed: str = "seed"
) -> list[Placed]:
    """Participants with random levels of two factors, minimised one after the other."""
    random = Random(seed)
    placed: list[Placed] = []
    for number in range(count):
        levels = {"sex": random.choice("fm"), "site": random.choice("xyz")}
        drawn = minimised_draw(
            number,
            seed=seed,
            levels=levels,
            earlier=placed,
            weights=weights,
            probability=probability,
        )
        placed.append(Placed(levels, drawn.arm))
    return placed


@pytest.mark.parametrize(("probability", "widest"), [(1.0, 3), (0.8, 12)])
def test_every_margin_stays_even(probability: float, widest: int) -> None:
    placed = walk(400, EQUAL, probability)
    for factor, levels in (("sex", "fm"), ("site", "xyz")):
        for level in levels:
            margin = Counter(each.arm for each in placed if each.levels[factor] == level)
            assert max(margin.values()) - min(margin[arm] for arm in EQUAL) <= widest


def test_unequal_weights_are_what_the_arms_tend_to() -> None:
    drawn = Counter(each.arm for each in walk(400, {"a": 2, "b": 1, "c": 1}, 1.0))
    assert abs(drawn["a"] - 200) <= 6
    assert abs(drawn["b"] - 100) <= 6


def test_the_preferred_arm_is_taken_as_often_as_declared() -> None:
    """Of 10,000 draws with one preferred arm at p = 0.8; five standard deviations are 200."""
    earlier = [Placed({"sex": "f"}, "a"), Placed({"sex": "f"}, "c")]
    drawn = Counter(
        minimised_draw(
            number,
            seed="seed",
            levels={"sex": "f"},
            earlier=earlier,
            weights=EQUAL,
            probability=0.8,
        ).arm
        for number in range(10_000)
    )
    assert abs(drawn["b"] - 8000) < 200
    assert abs(drawn["a"] - 1000) < 150
    assert abs(drawn["c"] - 1000) < 150


def test_without_factors_the_totals_stay_even() -> None:
    placed: list[Placed] = []
    for number in range(99):
        drawn = minimised_draw(
            number, seed="s", levels={}, earlier=placed, weights=EQUAL, probability=1.0
        )
        placed.append(Placed({}, drawn.arm))
    assert Counter(each.arm for each in placed) == {"a": 33, "b": 33, "c": 33}


@settings(max_examples=40, deadline=None)
@given(
    number=st.integers(0, 1000),
    arms=st.lists(st.sampled_from("abc"), max_size=20),
    probability=st.floats(0.01, 1),
)
def test_a_minimised_draw_is_reproducible_and_of_an_arm(
    number: int, arms: list[str], probability: float
) -> None:
    def drawn() -> object:
        return minimised_draw(
            number,
            seed="s",
            levels={"sex": "f"},
            earlier=[Placed({"sex": "f"}, arm) for arm in arms],
            weights=EQUAL,
            probability=probability,
        )

    assert drawn() == drawn()


@pytest.mark.parametrize(
    ("weights", "probability"), [({}, 0.8), ({"a": 0}, 0.8), (EQUAL, 0.0), (EQUAL, 1.1)]
)
def test_impossible_draws_are_refused(weights: dict[str, int], probability: float) -> None:
    with pytest.raises(ValueError, match=r"at least 1|in \(0, 1\]"):
        minimised_draw(0, seed="s", levels={}, earlier=[], weights=weights, probability=probability)
