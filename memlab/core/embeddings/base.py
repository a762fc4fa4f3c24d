"""What every embedder looks like from inside Memlab. No Django here."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memlab.core.llm.base import WORTH_RETRYING, FailureKind

Vectors = NDArray[np.float32]


class Form(StrEnum):
    """What a text is for: asking, or being found. Asymmetric models embed the two differently."""

    QUERY = "query"
    PASSAGE = "passage"


class EmbeddingFailure(Exception):
    """An embedder gave no usable vectors; `detail` never holds a participant's text."""

    def __init__(
        self,
        kind: FailureKind,
        detail: str,
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail
        self.retryable = kind in WORTH_RETRYING if retryable is None else retryable
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


class Embedder(Protocol):
    """One embedding model. Vectors of different `id`s are never compared."""

    id: str
    dimensions: int

    async def embed(self, texts: Sequence[str], form: Form) -> Vectors:
        """One L2-normalised row per text, shape (n, dimensions); (0, dimensions) for none.

        Raises `EmbeddingFailure`.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; the embedder is not used afterwards."""
        ...


def checked_vectors(
    rows: Sequence[Sequence[float]] | Vectors, *, count: int, dimensions: int
) -> Vectors:
    """The rows as normalised float32, or `EmbeddingFailure` MALFORMED.

    A provider that answers with a different number of rows, another dimension,
    NaN, infinity or a zero vector would poison every later comparison.
    """
    if len(rows) != count:
        raise EmbeddingFailure(FailureKind.MALFORMED, f"{len(rows)} vectors for {count} texts")
    if count == 0:
        return np.zeros((0, dimensions), dtype=np.float32)
    for row in rows:
        if len(row) != dimensions:
            raise EmbeddingFailure(
                FailureKind.MALFORMED, f"a vector of {len(row)} dimensions, expected {dimensions}"
            )
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingFailure(
            FailureKind.MALFORMED, "a vector holds something other than numbers"
        ) from error
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbeddingFailure(FailureKind.MALFORMED, "a vector is zero or not finite")
    normalised: Vectors = (matrix / lengths).astype(np.float32)
    return normalised
