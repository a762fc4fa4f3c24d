"""DashScope's text embeddings (`text-embedding-v4`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memlab.core.embeddings.base import Form, Vectors
from memlab.core.embeddings.remote import embedded_in_batches, in_order
from memlab.core.llm.base import Timeouts
from memlab.core.llm.dashscope import dashscope_client, diagnose

DEFAULT_MODEL = "text-embedding-v4"
DEFAULT_DIMENSIONS = 1024
# The service takes at most ten texts a request.
_LIMIT = 10
_TEXT_TYPES = {Form.QUERY: "query", Form.PASSAGE: "document"}


class DashScopeEmbedder:
    """One embedding model at DashScope with one lab's key. Belongs to one event loop."""

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        dimensions: int = DEFAULT_DIMENSIONS,
        api_key: str | None,
        base_url: str | None = None,
        allowed_base_urls: Collection[str] = (),
        timeouts: Timeouts = Timeouts(),
    ) -> None:
        self.id = f"dashscope:{model}@{dimensions}"
        self.dimensions = dimensions
        self._model = model
        self._patience = timeouts.first_token
        self._client, self._http = dashscope_client(
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
            where=f"embedder {self.id}",
        )

    async def embed(self, texts: Sequence[str], form: Form) -> Vectors:
        async def request(batch: Sequence[str]) -> list[Sequence[float]]:
            answer = await self._client.embeddings.create(
                model=self._model,
                input=list(batch),
                text_type=_TEXT_TYPES[form],
                dimension=self.dimensions,
            )
            return in_order([(row.index, row.embedding) for row in answer.embeddings])

        return await embedded_in_batches(
            texts,
            limit=_LIMIT,
            dimensions=self.dimensions,
            patience=self._patience,
            request=request,
            diagnose=diagnose,
        )

    async def aclose(self) -> None:
        await self._http.aclose()
