"""Talking to the model: try again before the first token only, and batch what comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from memlab.core.llm.base import (
    Completion,
    FailureKind,
    LanguageModel,
    ModelFailure,
    Sampling,
    TextDelta,
)
from memlab.core.values import Prompt

TRIES = 3
FIRST_PAUSE = 0.5  # seconds, doubled with each try
LONGEST_PAUSE = 8.0
BATCH = 0.05


@dataclass(slots=True)
class Answer:
    """What a model call has given so far; times are ``time.monotonic()`` seconds."""

    text: str = ""
    completion: Completion | None = None
    tries: int = 0
    first_token: float | None = None
    finished: float | None = None
    faults: list[str] = field(default_factory=list)


async def streamed(
    model: LanguageModel, prompt: Prompt, sampling: Sampling, answer: Answer
) -> AsyncGenerator[str, None]:
    """Yield the reply's text and note in ``answer`` how it went.

    A fault that is worth it is tried again while nothing has been shown yet. Raises ModelFailure,
    with the partial text, otherwise.
    """
    while True:
        answer.tries += 1
        try:
            async for event in model.stream(prompt, sampling=sampling):
                if isinstance(event, TextDelta):
                    answer.first_token = answer.first_token or time.monotonic()
                    answer.text += event.text
                    yield event.text
                else:
                    answer.completion = event
            if answer.completion is None or not answer.text.strip():
                raise ModelFailure(FailureKind.MALFORMED, "the stream ended without an answer")
            answer.finished = time.monotonic()
            return
        except ModelFailure as failure:
            answer.faults.append(str(failure.kind))
            failure.partial = answer.text
            if answer.text or not failure.retryable or answer.tries >= TRIES:
                raise
            pause = failure.retry_after or FIRST_PAUSE * 2 ** (answer.tries - 1)
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
