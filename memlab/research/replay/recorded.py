"""The recorded replies, standing in for the talking model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from experiments.configuration import StudyConfiguration
from experiments.doors import StudyDoors
from memlab.core.embeddings.base import Embedder
from memlab.core.llm.base import (
    Completion,
    FailureKind,
    LanguageModel,
    ModelFailure,
    Sampling,
    TextDelta,
    Tool,
    Usage,
)
from memlab.core.llm.tokens import count_message_tokens, count_tokens
from memlab.core.values import Prompt

PROVIDER = "recorded"


class NeverAnswered(ModelFailure):
    """The recording holds no reply to a message: its reply never comes."""

    def __init__(self) -> None:
        super().__init__(FailureKind.UNAVAILABLE, "the recording holds no reply", retryable=False)


class RecordedModel:
    """Gives the reply that was recorded; ``reply`` is set before each message, None for none."""

    provider = PROVIDER
    model = PROVIDER
    calls_tools = False

    def __init__(self) -> None:
        self.reply: str | None = None

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        completion = await self.complete(prompt, sampling=sampling)
        yield TextDelta(completion.text)
        yield completion

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        if self.reply is None:
            raise NeverAnswered
        return Completion(
            text=self.reply,
            tool_calls=(),
            model=self.model,
            finish_reason="stop",
            usage=Usage(prompt_tokens(prompt), count_tokens(self.reply)),
            request_id=None,
        )

    async def aclose(self) -> None:
        """Nothing is open."""


class RecordedDoors:
    """The doors of a replay: recorded replies, and the models given for the rest."""

    def __init__(self, *, extraction: LanguageModel, embedder: Embedder) -> None:
        self.talking = RecordedModel()
        self._doors = StudyDoors(talking=self.talking, extraction=extraction, embedder=embedder)

    async def doors(self, lab_id: int, configuration: StudyConfiguration) -> StudyDoors:
        return self._doors


def prompt_tokens(prompt: Prompt) -> int:
    """How long a prompt is: an estimate, the same on every machine."""
    return count_message_tokens([prompt.system, *(message.content for message in prompt.messages)])
