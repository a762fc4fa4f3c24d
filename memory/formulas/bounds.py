"""Range checks that every formula shares: out of range is an error, never clipped silently."""

from __future__ import annotations

import math


def within(name: str, value: float, low: float, high: float) -> float:
    """The value, or ValueError if it isn't a number in [low, high]."""
    if not low <= value <= high:
        raise ValueError(f"{name} must lie in [{low}, {high}], not {value!r}.")
    return value


def not_negative(name: str, value: float) -> float:
    """The value, or ValueError if it is negative, infinite or not a number."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be 0 or more and finite, not {value!r}.")
    return value


def positive(name: str, value: float) -> float:
    """The value, or ValueError unless it is above 0 and finite."""
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be above 0 and finite, not {value!r}.")
    return value
