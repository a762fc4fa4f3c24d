"""The dynamic forgetting curve of Hou, Tamoto and Miyashita (CHI'24 LBW), with emotion.

Symbols, the same throughout:

=====  ==========================================================================
r      relevance of a memory to the present query, in [0, 1]
t      time since the memory was last recalled or encoded, in days, 0 or more
g      consolidation: how slowly the memory fades, in days, above 0
p      probability of recall, in [0, 1]
e      emotional salience, in [0, 1] (see ``memory.formulas.salience``)
k      recall threshold: the least probability that counts as recalled, in [0, 1]
=====  ==========================================================================

Where a study counts in other units, "days" reads as that unit for t and g alike. Every function
is pure, takes keywords only, and raises ValueError for values out of range.
"""

from __future__ import annotations

import math

from memory.formulas.bounds import not_negative, positive, within

#: 1 − e⁻¹: scales p so that a perfectly relevant memory is certain at the moment of encoding.
CERTAINTY = -math.expm1(-1.0)


def recall_probability(*, relevance: float, elapsed_days: float, consolidation: float) -> float:
    """p(r, t, g) = (1 − exp(−r·e^(−t/g))) / (1 − e⁻¹), in [0, 1].

    Hou et al. (2024), equation 8: forgetting after Ebbinghaus (1885), with relevance as the cue.
    """
    within("relevance", relevance, 0.0, 1.0)
    not_negative("elapsed_days", elapsed_days)
    positive("consolidation", consolidation)
    cue = relevance * math.exp(-elapsed_days / consolidation)
    return -math.expm1(-cue) / CERTAINTY


def final_probability(*, probability: float, salience: float, bonus: float = 0.05) -> float:
    """min(1, p + bonus·e): emotional memories come to mind more easily (LaBar & Cabeza 2006).

    ``bonus`` in [0, 1] is what full salience adds.
    """
    within("probability", probability, 0.0, 1.0)
    within("salience", salience, 0.0, 1.0)
    within("bonus", bonus, 0.0, 1.0)
    return min(1.0, probability + bonus * salience)


def initial_consolidation(*, salience: float, initial: float = 1.0, gain: float = 0.5) -> float:
    """g₀ = initial + gain·e, in days: emotional events are encoded more firmly."""
    within("salience", salience, 0.0, 1.0)
    positive("initial", initial)
    not_negative("gain", gain)
    return initial + gain * salience


def spacing_effect(*, elapsed_days: float) -> float:
    """S(t) = (1 − e⁻ᵗ)/(1 + e⁻ᵗ), in [0, 1): the longer the pause, the more a recall is worth.

    Hou et al. (2024), equation 9.
    """
    # The same as tanh(t/2), which neither overflows nor cancels near 0.
    return math.tanh(not_negative("elapsed_days", elapsed_days) / 2.0)


def reconsolidated(
    *, consolidation: float, elapsed_days: float, salience: float, alpha: float = 0.5
) -> float:
    """g after a recall: g + S(t)·(1 + alpha·e), in days. Never less than before.

    Hou et al. (2024), equation 9, with emotion speeding reconsolidation; ``alpha`` is 0 or more.
    """
    positive("consolidation", consolidation)
    within("salience", salience, 0.0, 1.0)
    not_negative("alpha", alpha)
    return consolidation + spacing_effect(elapsed_days=elapsed_days) * (1.0 + alpha * salience)


def required_cue(*, threshold: float, salience: float = 0.0, bonus: float = 0.05) -> float:
    """The least r·e^(−t/g) at which the final probability reaches the threshold, in [0, 1].

    −ln(1 − (k − bonus·e)·(1 − e⁻¹)). 0 where the bonus alone reaches the threshold.
    """
    within("threshold", threshold, 0.0, 1.0)
    within("salience", salience, 0.0, 1.0)
    within("bonus", bonus, 0.0, 1.0)
    cue = -math.log1p(-max(0.0, threshold - bonus * salience) * CERTAINTY)
    # At k = 1 rounding would leave 1.0000000000000002, which no relevance reaches.
    return min(1.0, cue)


def least_recallable_relevance(
    *,
    elapsed_days: float,
    consolidation: float,
    threshold: float,
    salience: float = 0.0,
    bonus: float = 0.05,
) -> float | None:
    """The least relevance at which a memory still passes, in [0, 1]; None if not even 1 does."""
    not_negative("elapsed_days", elapsed_days)
    positive("consolidation", consolidation)
    cue = required_cue(threshold=threshold, salience=salience, bonus=bonus)
    if cue == 0.0:
        return 0.0
    # Compared as logarithms: e^(t/g) overflows for a memory of yesteryear with a small g.
    logarithm = math.log(cue) + elapsed_days / consolidation
    return math.exp(logarithm) if logarithm <= 0.0 else None


def recallable_days(
    *, consolidation: float, threshold: float, salience: float = 0.0, bonus: float = 0.05
) -> float:
    """For how long a perfectly relevant memory (r = 1) still passes, in days.

    t = g·ln(1/cue). Infinite where salience alone reaches the threshold.
    """
    positive("consolidation", consolidation)
    cue = required_cue(threshold=threshold, salience=salience, bonus=bonus)
    if cue == 0.0:
        return math.inf
    return max(0.0, -consolidation * math.log(cue))
