"""Relevance from a cosine. The statement of ``memory.search`` computes the same in SQL."""

from __future__ import annotations

from experiments.configuration import CalibrationPoint

#: r = 0 and r = 1 of the raw cosine, as the papers use it.
RAW = CalibrationPoint(low=0.0, high=1.0)


def relevance_of(cosine: float, scale: CalibrationPoint) -> float:
    """r = clip((cos − low)/(high − low), 0, 1)."""
    return min(1.0, max(0.0, (cosine - scale.low) / (scale.high - scale.low)))
