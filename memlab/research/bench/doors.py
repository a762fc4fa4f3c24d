"""Models that cost nothing, so that what is left of a turn is the platform's."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import numpy as np

from experiments.configuration import StudyConfiguration
from experiments.doors import Keys, StudyDoors
from memlab.core.embeddings.base import Form
from memlab.core.embeddings.local import ID as EMBEDDER
from memlab.core.llm.base import Completion, Sampling, TextDelta, Tool, ToolCall, Usage
from memlab.core.values import Prompt
from memlab.research.bench.vectors import DIMENSIONS, Vectors, unrelated

#: A reply: 60 tokens at 50 a second, as present models talk; the first comes at once.
TOKENS = 60
EVERY = 0.02  # seconds
TOKEN = "word "


async def tokens() -> AsyncIterator[str]:
    """One reply in its time. What comes late is caught up with, as from a network's buffer."""
    started = time.monotonic()
    for number in range(TOKENS):
        early = started + number * EVERY - time.monotonic()
        if early > 0:
            await asyncio.sleep(early)
        yield TOKEN


class SteadyModel:
    """Says the same reply to everything, at once and steadily."""

    provider = "bench"
    model = "bench"
    calls_tools = False

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        async for token in tokens():
            yield TextDelta(token)
        yield await self.complete(prompt)

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        return Completion(
            text=TOKEN * TOKENS,
            tool_calls=(),
            model=self.model,
            finish_reason="stop",
            usage=Usage(prompt_tokens=None, completion_tokens=TOKENS),
            request_id=None,
        )

    async def aclose(self) -> None:
        """Nothing is open."""


class CallingModel(SteadyModel):
    """Makes one call in each of ``rounds`` rounds, and then says one word; all of it at once.

    Where it ``calls_tools`` not at all, it just says the word.
    """

    def __init__(self, call: ToolCall, *, rounds: int, calls_tools: bool) -> None:
        self.calls_tools = calls_tools
        self._call, self._rounds = call, rounds

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        completion = await self.complete(prompt)
        if tools and sum(bool(each.tool_calls) for each in prompt.messages) < self._rounds:
            yield replace(completion, text="", tool_calls=(self._call,))
            return
        yield TextDelta(TOKEN)
        yield replace(completion, text=TOKEN)


class InstantEmbedder:
    """A vector for each text, always the same one, where the local embedder's would lie."""

    id = EMBEDDER
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str], form: Form) -> Vectors:
        seeds = (zlib.crc32(text.encode()) for text in texts)
        return np.concatenate([unrelated(np.random.default_rng(seed), 1) for seed in seeds])

    async def aclose(self) -> None:
        """Nothing is open."""


def costless_doors(configuration: StudyConfiguration, keys: Keys) -> StudyDoors:
    """Stands where ``experiments.doors.open_doors`` does."""
    return StudyDoors(talking=SteadyModel(), extraction=SteadyModel(), embedder=InstantEmbedder())
