"""Stand-ins for the two doors, the only things that tests replace.

``ScriptedEmbedder`` turns texts into vectors without a model: given ones by text, or a hashed bag
of words, so that texts with common words are near each other. ``ScriptedModel`` answers from a
script by the prompt's task and keeps every prompt it was asked. Both can be told to fail.

    embedder = ScriptedEmbedder({"cats": [1, 0], "Who purrs?": [0.8, 0.6]})
    model = ScriptedModel({PromptTask.RATE_SALIENCE: rated(0.5, 0.5, 0.5)})
    model.answers[PromptTask.EXTRACT_PROFILE] = ModelFailure(FailureKind.TIMEOUT, "scripted")
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import numpy as np

from memlab.core.embeddings.base import EmbeddingFailure, Form, Vectors, checked_vectors
from memlab.core.llm.base import (
    Completion,
    ModelFailure,
    Sampling,
    TextDelta,
    Tool,
    ToolCall,
    Usage,
)
from memlab.core.values import Prompt, PromptTask

#: An answer, a failure, several of them to be given one after the other, or a function.
Answer = str | ModelFailure | list["str | ModelFailure"] | Callable[[Prompt], str]

_WORDS = re.compile(r"[\u4e00-\u9fff]|\w+")


class ScriptedEmbedder:
    """An embedder whose vectors are known beforehand.

    ``vectors`` gives the exact (then normalised) vector of a text; a text that isn't there gets
    the hashed bag of its words. ``name`` becomes the embedder's id. ``failure`` is raised by every
    call while it is set. ``embedded`` lists every (text, form) that was asked for.
    """

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float]] | None = None,
        *,
        name: str = "scripted",
        dimensions: int | None = None,
    ) -> None:
        self.vectors = dict(vectors or {})
        self.id = name
        given = next(iter(self.vectors.values()), None)
        self.dimensions = dimensions or (64 if given is None else len(given))
        self.failure: EmbeddingFailure | None = None
        self.embedded: list[tuple[str, Form]] = []

    async def embed(self, texts: Sequence[str], form: Form) -> Vectors:
        if self.failure is not None:
            raise self.failure
        self.embedded.extend((text, form) for text in texts)
        rows = [self.vectors.get(text) or self._bag(text) for text in texts]
        return checked_vectors(rows, count=len(texts), dimensions=self.dimensions)

    async def aclose(self) -> None:
        return None

    def _bag(self, text: str) -> list[float]:
        counts = np.zeros(self.dimensions)
        for word in _WORDS.findall(text.lower()) or [text or " "]:
            digest = hashlib.sha256(word.encode()).digest()
            counts[int.from_bytes(digest[:4], "big") % self.dimensions] += 1.0
        return [float(count) for count in counts]


class ScriptedModel:
    """A language model that answers by task; ``prompts`` lists what it was asked.

    A list is used up from its front and its last item stays. A task without an answer is a
    mistake in the test and raises AssertionError.
    """

    provider = "scripted"
    model = "scripted-1"
    calls_tools = False

    def __init__(self, answers: Mapping[PromptTask, Answer] | None = None) -> None:
        self.answers: dict[PromptTask, Answer] = dict(answers or {})
        self.prompts: list[Prompt] = []

    def asked(self, task: PromptTask) -> list[Prompt]:
        return [prompt for prompt in self.prompts if prompt.task is task]

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        completion = await self.complete(prompt, sampling=sampling)
        for piece in re.findall(r"\S+\s*|\s+", completion.text):
            yield TextDelta(piece)
        yield completion

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        self.prompts.append(prompt)
        text = self._answer(prompt)
        return Completion(
            text=text,
            tool_calls=(),
            model=self.model,
            finish_reason="stop",
            usage=Usage(prompt_tokens=None, completion_tokens=None),
            request_id=None,
        )

    async def aclose(self) -> None:
        return None

    def _answer(self, prompt: Prompt) -> str:
        assert prompt.task in self.answers, f"The script has no answer to {prompt.task}."
        answer = self.answers[prompt.task]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, ModelFailure):
            raise answer
        return answer if isinstance(answer, str) else answer(prompt)


class CallingModel(ScriptedModel):
    """Calls tools before it answers: ``rounds`` holds the calls of each round of a turn."""

    calls_tools = True

    def __init__(
        self, *rounds: Sequence[ToolCall], answers: Mapping[PromptTask, Answer] | None = None
    ) -> None:
        super().__init__(answers)
        self.rounds = [tuple(calls) for calls in rounds]

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        made = sum(bool(message.tool_calls) for message in prompt.messages)
        if not tools or made >= len(self.rounds):
            async for event in super().stream(prompt, sampling=sampling):
                yield event
            return
        self.prompts.append(prompt)
        yield Completion(
            text="",
            tool_calls=self.rounds[made],
            model=self.model,
            finish_reason="tool_calls",
            usage=Usage(prompt_tokens=None, completion_tokens=None),
            request_id=None,
        )


def rated(intensity: float, self_disclosure: float, value_relevance: float) -> Answer:
    """Rates every statement alike."""

    def answer(prompt: Prompt) -> str:
        return json.dumps(
            {
                "ratings": [
                    {
                        "message": statement.id,
                        "intensity": intensity,
                        "self_disclosure": self_disclosure,
                        "value_relevance": value_relevance,
                    }
                    for statement in prompt.material
                ]
            }
        )

    return answer


def traits_from(words: Mapping[str, Mapping[str, str]]) -> Answer:
    """Extracts a trait from every statement that holds a given word: word → the trait's fields."""

    def answer(prompt: Prompt) -> str:
        traits = [
            {"key": None, "emotion": None, **fields, "message": statement.id}
            for statement in prompt.material
            for word, fields in words.items()
            if word in statement.text
        ]
        return json.dumps({"traits": traits}, ensure_ascii=False)

    return answer


def items_from(found: Mapping[str, Mapping[str, object]]) -> Answer:
    """Extracts an item from every statement that holds a given word: word → the item's fields."""

    def answer(prompt: Prompt) -> str:
        items = [
            {"importance": 0.9, "keywords": [], **fields, "message": statement.id}
            for statement in prompt.material
            for word, fields in found.items()
            if word in statement.text
        ]
        return json.dumps({"items": items}, ensure_ascii=False)

    return answer
