"""Vectors that lie as a multilingual E5's do: all in one narrow cone."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

DIMENSIONS = 384
#: The cosine of two unrelated texts; the local embedder's calibration has its r = 0 near there.
UNRELATED = 0.86

Vectors = NDArray[np.float32]


def unrelated(random: Generator, count: int, *, cosine: float = UNRELATED) -> Vectors:
    """Unit vectors of shape (count, DIMENSIONS) with cosines near ``cosine``."""
    noise = random.standard_normal((count, DIMENSIONS))
    noise[:, 0] = 0.0
    noise *= np.sqrt(1 - cosine) / np.linalg.norm(noise, axis=1, keepdims=True)
    noise[:, 0] = np.sqrt(cosine)
    return noise.astype(np.float32)


def cues(random: Generator, rows: Vectors, count: int, *, cosine: float = UNRELATED) -> Vectors:
    """Unit vectors, each half of one of ``rows`` and half of something unrelated."""
    chosen = rows[random.integers(len(rows), size=count)]
    mixed = chosen + unrelated(random, count, cosine=cosine)
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
