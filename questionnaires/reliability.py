"""Reliability of a subscale from the answers of several people. Pure.

Symbols: k items, n people, C the k × k sample covariance matrix (n − 1), X the sum of the items.

- Cronbach's alpha: α = k/(k−1) · (1 − tr C / 1ᵀC1). Cronbach 1951, *Psychometrika* 16, 297–334.
- McDonald's omega total of one factor: ω = (Σλ)² / ((Σλ)² + Σψ), λ the loadings and ψ the unique
  variances of the items in the factor model with one factor. McDonald 1999, *Test Theory*, ch. 6.
  The loadings come from the minimum-residual solution (Harman & Jones 1966, *Psychometrika* 31,
  351–368), which fits what is off the diagonal of the correlation matrix by least squares, one
  loading after the other; a loading above 1 in size (Heywood case) is held at 1, which is the
  exact minimum of its step (Harman & Fukuda 1966, *Psychometrika* 31, 563–571). They are
  multiplied by the items' standard deviations, so that ω speaks of the same sum X as α does.
- Item–total correlation, corrected: of item i with X without item i (Nunnally 1978).

Answers are to be reversed before. People with a missing answer are left out (listwise).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

MINIMUM_PEOPLE = 3
MAXIMUM_SWEEPS = 10_000
#: A sweep that changes no loading by more than this ends the fit.
CONVERGED = 1e-12
#: A variance below this share of the squared mean is rounding, not variance.
NO_VARIANCE = 1e-20
#: A variance of the sum below this share of the items' is rounding: a hundred terms cancel out.
NO_SUM = 1e-12


class Obstacle(StrEnum):
    """Why a coefficient can't be had."""

    FEW_ITEMS = "few_items"  # alpha needs two, omega three
    FEW_PEOPLE = "few_people"  # with all items answered
    CONSTANT_ITEM = "constant_item"  # everybody answered it alike
    CONSTANT_SUM = "constant_sum"  # the items cancel each other
    NO_FACTOR = "no_factor"  # fewer than three items have anything in common


class NotComputable(ValueError):
    """A coefficient that these answers don't have; ``items`` are the columns that are to blame."""

    def __init__(self, obstacle: Obstacle, words: str, items: tuple[int, ...] = ()) -> None:
        super().__init__(words)
        self.obstacle = obstacle
        self.items = items


@dataclass(frozen=True, slots=True, kw_only=True)
class OneFactor:
    """The one-factor model of a covariance matrix, in its units: ``loadings`` λ, ``unique`` ψ."""

    loadings: tuple[float, ...]
    unique: tuple[float, ...]

    @property
    def omega(self) -> float:
        common = sum(self.loadings) ** 2
        return common / (common + sum(self.unique))


def complete(answers: Sequence[Sequence[float | None]]) -> Matrix:
    """The people (rows) who answered every item, as an n × k matrix."""
    rows = [[value for value in row if value is not None] for row in answers]
    width = max((len(row) for row in answers), default=0)
    kept = [row for row in rows if len(row) == width]
    return np.array(kept, dtype=np.float64).reshape(len(kept), width)


def covariance(answers: Sequence[Sequence[float | None]]) -> Matrix:
    """C of the people without a missing answer. Raises NotComputable for fewer than three people,
    and for an item that everybody answered alike."""
    values = complete(answers)
    if len(values) < MINIMUM_PEOPLE:
        raise NotComputable(
            Obstacle.FEW_PEOPLE,
            f"{len(values)} people answered every item; {MINIMUM_PEOPLE} are needed at least.",
        )
    if values.shape[1] == 0:
        raise NotComputable(Obstacle.FEW_ITEMS, "There is no item.")
    found: Matrix = np.atleast_2d(np.cov(values, rowvar=False))
    scale = np.square(values).mean(axis=0)
    constant = tuple(int(i) for i in np.flatnonzero(np.diag(found) <= NO_VARIANCE * scale))
    if constant:
        raise NotComputable(
            Obstacle.CONSTANT_ITEM, "Everybody gave the same answer to an item.", constant
        )
    return found


def alpha(matrix: Matrix) -> float:
    """Cronbach's alpha of a covariance matrix; at most 1, and negative where items oppose."""
    k = _items(matrix, 2)
    return k / (k - 1) * (1.0 - float(np.trace(matrix)) / _variance_of_sum(matrix))


def one_factor(matrix: Matrix) -> OneFactor:
    """The minimum-residual one-factor model of a covariance matrix, signed so that Σλ ≥ 0.

    Three items at least: with two, any pair of loadings with one product fits.
    """
    _items(matrix, 3)
    deviations = np.sqrt(np.diag(matrix))
    if not np.all(deviations > 0):
        constant = tuple(int(i) for i in np.flatnonzero(deviations <= 0))
        raise NotComputable(Obstacle.CONSTANT_ITEM, "An item has no variance.", constant)
    correlations = matrix / np.outer(deviations, deviations)
    standardised = _minimum_residual(correlations)
    if np.count_nonzero(np.abs(standardised) > 1e-6) < 3:
        raise NotComputable(Obstacle.NO_FACTOR, "Fewer than three items have anything in common.")
    loadings = standardised * deviations
    if loadings.sum() < 0:
        loadings = -loadings
    unique = np.maximum(1.0 - standardised**2, 0.0) * deviations**2
    return OneFactor(
        loadings=tuple(float(each) for each in loadings),
        unique=tuple(float(each) for each in unique),
    )


def omega(matrix: Matrix) -> float:
    """McDonald's omega total of a covariance matrix, by its one-factor model."""
    _items(matrix, 3)
    _variance_of_sum(matrix)  # of which omega is a share
    return one_factor(matrix).omega


def item_total(matrix: Matrix) -> tuple[float | None, ...]:
    """The corrected item–total correlations; None where the rest of the items has no variance."""
    _items(matrix, 2)
    sums = matrix.sum(axis=0)
    variances = np.diag(matrix)
    rest = matrix.sum() - 2 * sums + variances
    return tuple(
        float((sums[i] - variances[i]) / np.sqrt(variances[i] * rest[i]))
        if rest[i] > NO_VARIANCE * np.trace(matrix) and variances[i] > 0
        else None
        for i in range(len(matrix))
    )


def _variance_of_sum(matrix: Matrix) -> float:
    """1ᵀC1. Raises NotComputable where the items cancel each other, as when one half of a scale
    should have been reversed and wasn't."""
    total = float(matrix.sum())
    if total <= NO_SUM * float(np.trace(matrix)):
        raise NotComputable(Obstacle.CONSTANT_SUM, "Everybody has the same sum.")
    return total


def _items(matrix: Matrix, needed: int) -> int:
    k = len(matrix)
    if k < needed:
        raise NotComputable(
            Obstacle.FEW_ITEMS, f"There are {k} items; {needed} are needed at least."
        )
    return k


def _minimum_residual(correlations: Matrix) -> Matrix:
    """Loadings that minimise Σ_{i<j} (r_ij − λ_i λ_j)² with |λ| ≤ 1, by exact coordinate steps.

    They start at the first principal component, whose signs are those of the solution.
    """
    off = correlations - np.diag(np.diag(correlations))
    values, vectors = np.linalg.eigh(correlations)
    loadings: Matrix = np.clip(vectors[:, -1] * np.sqrt(max(values[-1], 0.0)), -1.0, 1.0)
    for _sweep in range(MAXIMUM_SWEEPS):
        before = loadings.copy()
        for i in range(len(loadings)):
            others = float(loadings @ loadings - loadings[i] ** 2)
            if others > 0:
                loadings[i] = min(max(float(off[i] @ loadings) / others, -1.0), 1.0)
        if float(np.abs(loadings - before).max()) <= CONVERGED:
            break
    return loadings
