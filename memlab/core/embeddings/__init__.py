"""The door to embedding models: one protocol, three providers."""

from __future__ import annotations

from collections.abc import Collection

from memlab.core.embeddings.base import Embedder, EmbeddingFailure, Form
from memlab.core.llm.base import Timeouts
from memlab.core.llm.configuration import ProviderConfigurationError

PROVIDERS = ("local", "dashscope", "openai_compatible")

__all__ = ["PROVIDERS", "Embedder", "EmbeddingFailure", "Form", "open_embedder"]


def open_embedder(
    spec: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    allowed_base_urls: Collection[str] = (),
    timeouts: Timeouts = Timeouts(),
) -> Embedder:
    """Open an embedder; nothing is sent or loaded yet.

    `spec` is `local`, `dashscope`, `dashscope:MODEL@DIMENSIONS` or
    `openai_compatible:MODEL@DIMENSIONS`; an embedder's own `id` is one too. Close
    it with `aclose()`. Raises `ProviderConfigurationError`.
    """
    provider, _, rest = spec.partition(":")
    if provider == "local":
        from memlab.core.embeddings.local import ID, LocalEmbedder

        if rest and spec != ID:
            raise ProviderConfigurationError(
                what=f"there is no local embedder {spec!r}",
                where="embedder",
                remedy=f"Choose local, which is {ID} in this version.",
            )
        return LocalEmbedder()
    if provider == "dashscope":
        from memlab.core.embeddings.dashscope import (
            DEFAULT_DIMENSIONS,
            DEFAULT_MODEL,
            DashScopeEmbedder,
        )

        model, dimensions = _model_and_dimensions(rest, spec) if rest else (DEFAULT_MODEL, None)
        return DashScopeEmbedder(
            model,
            dimensions=dimensions or DEFAULT_DIMENSIONS,
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
        )
    if provider == "openai_compatible":
        from memlab.core.embeddings.openai_compatible import OpenAICompatibleEmbedder

        model, dimensions = _model_and_dimensions(rest, spec)
        if dimensions is None:
            raise _unreadable(spec)
        return OpenAICompatibleEmbedder(
            model,
            dimensions=dimensions,
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
        )
    raise _unreadable(spec)


def _model_and_dimensions(rest: str, spec: str) -> tuple[str, int | None]:
    model, at, dimensions = rest.rpartition("@")
    if not at and rest:
        return rest, None
    if not model or not dimensions.isdecimal() or int(dimensions) == 0:
        raise _unreadable(spec)
    return model, int(dimensions)


def _unreadable(spec: str) -> ProviderConfigurationError:
    return ProviderConfigurationError(
        what=f"there is no embedder {spec!r}",
        where="embedder",
        remedy="Write local, dashscope, dashscope:MODEL@DIMENSIONS "
        "or openai_compatible:MODEL@DIMENSIONS.",
    )
