"""Emotional salience: how much a statement matters to the person who made it."""

from __future__ import annotations

import math

from memory.formulas.bounds import within


def emotional_salience(
    *,
    intensity: float,
    self_disclosure: float,
    value_relevance: float,
    weights: tuple[float, float, float] = (0.4, 0.4, 0.2),
) -> float:
    """e = w₁·intensity + w₂·self-disclosure + w₃·value relevance, in [0, 1].

    The three ratings are in [0, 1] (dimensions after Hou et al., CHI'24, table 2); the weights are
    0 or more and sum to 1. Raises ValueError otherwise: whoever rates clips, not the formula.
    """
    within("intensity", intensity, 0.0, 1.0)
    within("self_disclosure", self_disclosure, 0.0, 1.0)
    within("value_relevance", value_relevance, 0.0, 1.0)
    for weight in weights:
        within("each weight", weight, 0.0, 1.0)
    if not math.isclose(math.fsum(weights), 1.0, abs_tol=1e-9):
        raise ValueError(f"weights must be three numbers that sum to 1, not {weights!r}.")
    ratings = (intensity, self_disclosure, value_relevance)
    salience = math.fsum(weight * rating for weight, rating in zip(weights, ratings, strict=True))
    # Rounding may leave 1.0000000000000002.
    return min(1.0, salience)
