"""Permuted blocks: balanced, unpredictable, independent between strata, blind to test runs."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat import sessions
from experiments.allocation import permuted_block, sequence
from experiments.models import Allocation, Lab, StudyVersion
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.studies import enrol, make_study

EQUAL = {"gist": 1, "hybrid": 1, "sensory": 1, "working": 1}


def first(count: int, stratum: str = "all", seed: str = "seed") -> list[str]:
    arms = sequence(seed=seed, stratum=stratum, weights=EQUAL, multiples=(1, 2, 3))
    return list(islice(arms, count))


def chi_square(observed: Counter[tuple[str, str]], expected: float) -> float:
    cells = [(a, b) for a in EQUAL for b in EQUAL]
    return sum((observed[cell] - expected) ** 2 / expected for cell in cells)


@given(
    number=st.integers(0, 10_000),
    weights=st.dictionaries(st.sampled_from("abcd"), st.integers(1, 4), min_size=1),
    multiples=st.lists(st.integers(1, 4), min_size=1),
)
def test_every_block_is_balanced_to_its_weights(
    number: int, weights: dict[str, int], multiples: list[int]
) -> None:
    block = permuted_block(number, seed="s", stratum="all", weights=weights, multiples=multiples)
    multiple = len(block) / sum(weights.values())
    assert multiple in multiples
    assert Counter(block) == {arm: weight * multiple for arm, weight in weights.items()}


def test_ten_thousand_enrolments_are_never_far_from_balance() -> None:
    counts: Counter[str] = Counter()
    for arm in first(10_000):
        counts[arm] += 1
        assert max(counts.values()) - min(counts[arm] for arm in EQUAL) <= 2 * 3
    assert sum(counts.values()) == 10_000


def test_two_strata_are_independent() -> None:
    """χ² of the joint table of two strata's n-th arms: 9 degrees of freedom, 27.9 is p = 0.001."""
    pairs = Counter(zip(first(10_000, "young"), first(10_000, "old"), strict=True))
    assert chi_square(pairs, 10_000 / 16) < 27.9


def test_two_seeds_are_independent() -> None:
    pairs = Counter(zip(first(10_000, seed="one"), first(10_000, seed="two"), strict=True))
    assert chi_square(pairs, 10_000 / 16) < 27.9


def test_no_place_of_a_block_favours_an_arm() -> None:
    starts = Counter(
        permuted_block(number, seed="s", stratum="all", weights=EQUAL, multiples=(1,))
        for number in range(10_000)
    )
    expected = 10_000 / 24  # every order of four arms; 23 degrees of freedom, 49.7 is p = 0.001
    assert len(starts) == 24
    assert sum((n - expected) ** 2 / expected for n in starts.values()) < 49.7


@pytest.mark.parametrize(
    ("weights", "multiples"), [({}, (1,)), ({"a": 0}, (1,)), ({"a": 1}, ()), ({"a": 1}, (0,))]
)
def test_impossible_blocks_are_refused(weights: dict[str, int], multiples: tuple[int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        permuted_block(0, seed="s", stratum="all", weights=weights, multiples=multiples)


def test_test_runs_are_invisible_to_the_real_sequence(lab: Lab) -> None:
    """Real participants get the study's sequence whatever test runs happen in between."""
    study = make_study(lab)
    drawn = []
    version: StudyVersion | None = None
    for number in range(60):
        participant = enrol(study, test_mode=number % 3 == 1)
        with lab_scope(lab.pk):
            sessions.allocate(participant, now=wall_now())
            allocation = Allocation.objects.get(participant=participant)
            if not participant.test_mode:
                drawn.append(allocation.arm_key)
            version = participant.version
    assert version is not None
    planned = sequence(
        seed=f"{study.allocation_seed}:{version.sha256}:real",
        stratum="all",
        weights={arm.key: arm.weight for arm in version.configuration.arms},
        multiples=version.configuration.block_multiples,
    )
    assert drawn == list(islice(planned, 40))


def test_allocating_twice_gives_the_same_arm_and_uses_one_place(lab: Lab) -> None:
    participant = enrol(make_study(lab))
    with lab_scope(lab.pk):
        one = participant.allocate(study_at=wall_now())
        two = participant.allocate(study_at=wall_now())
        assert (one.pk, Allocation.objects.count()) == (two.pk, 1)
