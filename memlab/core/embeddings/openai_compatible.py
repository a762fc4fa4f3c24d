"""Embeddings of any server that speaks OpenAI's API: vLLM, Ollama, llama.cpp."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memlab.core.embeddings.base import Form, Vectors
from memlab.core.embeddings.remote import embedded_in_batches, in_order
from memlab.core.llm.base import Timeouts
from memlab.core.llm.openai_compatible import diagnose, openai_client

_LIMIT = 32


class OpenAICompatibleEmbedder:
    """One embedding model behind one address. Belongs to one event loop.

    The API knows no forms, so both get the same vector. `dimensions` is what the
    model answers with; it is checked, not asked for, since many servers refuse
    to be asked.
    """

    def __init__(
        self,
        model: str,
        *,
        dimensions: int,
        api_key: str | None = None,
        base_url: str | None,
        allowed_base_urls: Collection[str] = (),
        timeouts: Timeouts = Timeouts(),
    ) -> None:
        self.id = f"openai_compatible:{model}@{dimensions}"
        self.dimensions = dimensions
        self._model = model
        self._patience = timeouts.first_token
        self._client = openai_client(
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
            where=f"embedder {self.id}",
        )

    async def embed(self, texts: Sequence[str], form: Form) -> Vectors:
        async def request(batch: Sequence[str]) -> list[Sequence[float]]:
            # The SDK would ask for base64, which compatible servers often don't know.
            answer = await self._client.embeddings.create(
                model=self._model, input=list(batch), encoding_format="float"
            )
            return in_order([(row.index, row.embedding) for row in answer.data])

        return await embedded_in_batches(
            texts,
            limit=_LIMIT,
            dimensions=self.dimensions,
            patience=self._patience,
            request=request,
            diagnose=diagnose,
        )

    async def aclose(self) -> None:
        await self._client.close()
