"""Whether a measure is the same in all arms: a rank test by permutation, and how large it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

#: Permutations of the labels; the smallest p that can come out is 1 / (PERMUTATIONS + 1).
PERMUTATIONS = 4999
ALPHA = 0.05

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One measure over all arms.

    ``p`` is of the Kruskal-Wallis test, ``p_corrected`` after Holm over all measures that were
    compared together. ``spread`` lies between the medians of the arms ``most`` and ``least``, in
    the measure's own unit. ``told`` is how often the larger of two values tells which of these two
    arms it is from: 0.5 is a coin's, 1 is always.
    """

    name: str
    unit: str
    count: int
    median: float
    p: float
    p_corrected: float
    spread: float
    most: str
    least: str
    told: float
    medians: Mapping[str, float]

    @property
    def differs(self) -> bool:
        return self.p_corrected < ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A measure's values by arm, one of each session: turns of a session aren't independent."""

    name: str
    unit: str
    arms: Mapping[str, Sequence[float]]


def compared(measures: Sequence[Measured], random: Generator) -> list[Comparison]:
    """Every measure, corrected for there being several; in the order given."""
    ps = [p_value([np.asarray(each) for each in row.arms.values()], random) for row in measures]
    return [
        _comparison(row, p, corrected)
        for row, p, corrected in zip(measures, ps, holm(ps), strict=True)
    ]


def p_value(groups: Sequence[Values], random: Generator) -> float:
    """Of the Kruskal-Wallis statistic, by permuting who belongs to which group.

    H rises with Σ Rᵢ²/nᵢ alone (Kruskal and Wallis 1952), Rᵢ being the ranks' sum of group i; ties
    get their mean rank, and are the same in every permutation.
    """
    sizes = np.array([len(group) for group in groups])
    ranks = mean_ranks(np.concatenate(groups))
    cuts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def statistic(order: Values) -> float:
        return float((np.add.reduceat(order, cuts) ** 2 / sizes).sum())

    seen = statistic(ranks)
    # Sums of squares of the same numbers in another order differ in their last digits.
    least = seen - 1e-9 * abs(seen)
    as_far = sum(statistic(random.permutation(ranks)) >= least for _ in range(PERMUTATIONS))
    return (as_far + 1) / (PERMUTATIONS + 1)


def mean_ranks(values: Values) -> Values:
    """Ranks from 1 up; equal values share the mean of theirs."""
    _unique, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place], dtype=np.float64)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979), in the order given."""
    order = np.argsort(ps)
    corrected = np.empty(len(ps))
    worst = 0.0
    for place, index in enumerate(order):
        worst = max(worst, min(1.0, (len(ps) - place) * ps[index]))
        corrected[index] = worst
    return [float(p) for p in corrected]


def superiority(larger: Values, smaller: Values) -> float:
    """How often a value of ``larger`` is above one of ``smaller``; ties count half."""
    apart = larger[:, None] - smaller[None, :]
    return float((apart > 0).mean() + (apart == 0).mean() / 2)


def _comparison(row: Measured, p: float, corrected: float) -> Comparison:
    arms = {arm: np.asarray(values, dtype=np.float64) for arm, values in row.arms.items()}
    medians = {arm: float(np.median(values)) for arm, values in arms.items()}
    most, least = max(medians, key=lambda arm: medians[arm]), min(medians, key=lambda a: medians[a])
    return Comparison(
        name=row.name,
        unit=row.unit,
        count=min(len(values) for values in arms.values()),
        median=float(np.median(np.concatenate(list(arms.values())))),
        p=p,
        p_corrected=corrected,
        spread=medians[most] - medians[least],
        most=most,
        least=least,
        told=superiority(arms[most], arms[least]),
        medians=medians,
    )
