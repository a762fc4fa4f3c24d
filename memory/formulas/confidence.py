"""Adaptive confidence: trust what is said first, be patient with what contradicts it.

Confidence c lies in [0, 1]. It starts at 1, falls by one step with each contradiction and climbs
back by smaller ones when the memory is said again; a fact that is said again is certain at once.
The numbers are those of the protocol that introduced them: four contradictions in four turns take
a memory from certain to gone.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from memory.formulas.bounds import within

#: Digits that a confidence is kept to, so that steps add up: 0.7 + 0.2 is 0.9.
DIGITS = 9


class Band(StrEnum):
    """How a memory of some confidence is treated."""

    CONFIRMED = "confirmed"  # told as known
    UNCERTAIN = "uncertain"  # told as perhaps out of date
    HIDDEN = "hidden"  # kept, not told


def weakened(*, confidence: float, drop: float = 0.25) -> float:
    """max(0, c − drop): confidence after one contradiction; 0 means that the memory goes.

    Raises ValueError unless c and drop lie in [0, 1].
    """
    within("confidence", confidence, 0.0, 1.0)
    within("drop", drop, 0.0, 1.0)
    return max(0.0, round(confidence - drop, DIGITS))


def reinforced(*, confidence: float, factual: bool, boost: float = 0.2) -> float:
    """min(1, c + boost), or 1 for a fact: confidence after the memory was said again.

    Raises ValueError unless c and boost lie in [0, 1].
    """
    within("confidence", confidence, 0.0, 1.0)
    within("boost", boost, 0.0, 1.0)
    return 1.0 if factual else min(1.0, round(confidence + boost, DIGITS))


def band(*, confidence: float, confirm: float = 0.6, show: float = 0.3) -> Band:
    """Confirmed from ``confirm`` up, uncertain from ``show`` up, hidden below.

    Raises ValueError unless 0 ≤ show ≤ confirm ≤ 1 and c lies in [0, 1].
    """
    within("confidence", confidence, 0.0, 1.0)
    within("confirm", confirm, 0.0, 1.0)
    within("show", show, 0.0, confirm)
    if confidence >= confirm:
        return Band.CONFIRMED
    return Band.UNCERTAIN if confidence >= show else Band.HIDDEN


def keyword_overlap(*, first: Collection[str], second: Collection[str]) -> float:
    """|A∩B| / |A∪B| of two collections of words (Jaccard 1901), in [0, 1]; 0 if both are empty."""
    a, b = frozenset(first), frozenset(second)
    return len(a & b) / len(a | b) if a | b else 0.0
