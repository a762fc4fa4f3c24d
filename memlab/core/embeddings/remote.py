"""What both remote embedders share: batches, patience, and one failure for all errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np

from memlab.core.embeddings.base import EmbeddingFailure, Vectors, checked_vectors
from memlab.core.llm.base import FailureKind
from memlab.core.llm.failures import Diagnosis


async def embedded_in_batches(
    texts: Sequence[str],
    *,
    limit: int,
    dimensions: int,
    patience: float,
    request: Callable[[Sequence[str]], Awaitable[Any]],
    diagnose: Callable[[Exception, bool], Diagnosis | None],
) -> Vectors:
    """`request` the vectors of at most `limit` texts at a time; `patience` in seconds for each."""
    batches = [
        await _batch(texts[start : start + limit], dimensions, patience, request, diagnose)
        for start in range(0, len(texts), limit)
    ]
    return np.vstack(batches) if batches else np.zeros((0, dimensions), dtype=np.float32)


async def _batch(
    texts: Sequence[str],
    dimensions: int,
    patience: float,
    request: Callable[[Sequence[str]], Awaitable[Any]],
    diagnose: Callable[[Exception, bool], Diagnosis | None],
) -> Vectors:
    rows: Any = None
    diagnosis: Diagnosis | None = None
    try:
        async with asyncio.timeout(patience):
            rows = await request(texts)
    except TimeoutError:
        diagnosis = Diagnosis(FailureKind.TIMEOUT, "no vectors in time")
    except Exception as error:
        diagnosis = diagnose(error, False)
        if diagnosis is None:
            raise
    # Raised out here, so that no SDK exception, which may quote text, hangs on it as context.
    if diagnosis is not None:
        raise EmbeddingFailure(
            diagnosis.kind,
            diagnosis.detail,
            retryable=diagnosis.retryable,
            retry_after=diagnosis.retry_after,
        )
    return checked_vectors(rows, count=len(texts), dimensions=dimensions)


def in_order(rows: Sequence[tuple[int, Sequence[float]]]) -> list[Sequence[float]]:
    """The vectors by their index: providers need not answer in the order of the texts."""
    return [vector for _, vector in sorted(rows, key=lambda row: row[0])]
