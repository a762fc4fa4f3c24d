"""Talking to the model: try again before the first token only, and batch what comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

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
from memlab.core.values import Prompt

TRIES = 3
FIRST_PAUSE = 0.5  # seconds, doubled with each try
LONGEST_PAUSE = 8.0
BATCH = 0.05


@dataclass(slots=True)
class Answer:
    """What a reply has come to, over all its rounds; times are ``time.monotonic()`` seconds.

    ``text`` is what was shown: it neither begins nor ends with white space, and the texts of two
    rounds have an empty line between them. ``tries`` counts every request, ``completions`` holds
    the last of each round. ``provider`` is of the model that was asked last; ``fell_back`` is how
    the talking model failed where that was its fallback.
    """

    text: str = ""
    completions: list[Completion] = field(default_factory=list)
    tries: int = 0
    first_token: float | None = None
    finished: float | None = None
    faults: list[str] = field(default_factory=list)
    provider: str = ""
    fell_back: FailureKind | None = None
    _waiting: str = ""
    _begins: bool = True

    def begin(self) -> None:
        """A round begins, or another try at it."""
        self._waiting, self._begins = "\n\n" if self.text else "", True

    def take(self, text: str) -> str:
        """What is to be shown now that ``text`` has come: white space waits for what follows it."""
        text = text.lstrip() if self._begins else text
        if not text:
            return ""
        self._begins = False
        waiting = self._waiting + text
        shown = waiting.rstrip()
        self._waiting = waiting[len(shown) :]
        self.text += shown
        return shown

    def usage(self) -> Usage:
        """The tokens of all rounds together; None if one of them didn't say."""
        rounds = [completion.usage for completion in self.completions]
        return Usage(
            prompt_tokens=_total(usage.prompt_tokens for usage in rounds),
            completion_tokens=_total(usage.completion_tokens for usage in rounds),
        )


def _total(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)


async def streamed(
    model: LanguageModel,
    prompt: Prompt,
    sampling: Sampling,
    answer: Answer,
    tools: Sequence[Tool] = (),
) -> AsyncGenerator[str, None]:
    """Yield the text of one round and note in ``answer`` how it went.

    A fault that is worth it is tried again while nothing has been shown yet. A model that has
    already talked, or that calls tools it was offered, need not say anything. Raises
    ModelFailure, with what was shown as its partial text, otherwise.
    """
    tries, answer.provider = 0, model.provider
    while True:
        tries, answer.tries = tries + 1, answer.tries + 1
        answer.begin()
        completion = None
        try:
            async for event in model.stream(prompt, tools=tools, sampling=sampling):
                if not isinstance(event, TextDelta):
                    completion = event
                elif shown := answer.take(event.text):
                    answer.first_token = answer.first_token or time.monotonic()
                    yield shown
            if completion is None or not (answer.text or (tools and completion.tool_calls)):
                raise ModelFailure(FailureKind.MALFORMED, "the stream ended without an answer")
            answer.completions.append(completion)
            answer.finished = time.monotonic()
            return
        except ModelFailure as failure:
            answer.faults.append(str(failure.kind))
            failure.partial = answer.text
            if answer.text or not failure.retryable or tries >= TRIES:
                raise
            pause = failure.retry_after or FIRST_PAUSE * 2 ** (tries - 1)
            await asyncio.sleep(min(pause, LONGEST_PAUSE))


async def in_batches(
    pieces: AsyncIterator[str], send: Callable[[int, str], Awaitable[None]]
) -> None:
    """Send pieces as numbered batches of about BATCH seconds, the first one at once."""
    waiting: list[str] = []
    number = 0
    sent = 0.0
    sending = asyncio.Lock()  # batches leave in order

    async def flush() -> None:
        nonlocal number, sent
        async with sending:
            if waiting:
                text, sent = "".join(waiting), time.monotonic()
                waiting.clear()
                number += 1
                await send(number - 1, text)

    async def flush_in_time() -> None:
        while True:
            await asyncio.sleep(BATCH)
            if time.monotonic() - sent >= BATCH:
                await flush()

    flusher = asyncio.create_task(flush_in_time())
    try:
        async for piece in pieces:
            waiting.append(piece)
            if number == 0 or time.monotonic() - sent >= BATCH:
                await flush()
    finally:
        async with sending:  # a batch that is on its way arrives
            flusher.cancel()
        with suppress(asyncio.CancelledError):
            await flusher
    await flush()
