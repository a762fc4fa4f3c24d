"""Equal latency in every arm: a floor for the first token and a fixed rate after it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from experiments.configuration import Pacing
from memlab.core.llm.tokens import count_tokens


async def paced(
    pieces: AsyncIterator[str], pacing: Pacing, *, asked: float
) -> AsyncGenerator[str, None]:
    """Hand pieces on, none before ``asked`` + floor, then at the study's rate.

    ``asked`` is a ``time.monotonic()`` reading in seconds. A model slower than the rate can't be
    hurried; its true latency is on the receipt.
    """
    if not pacing.enabled:
        async for piece in pieces:
            yield piece
        return
    due = asked + pacing.first_token_ms / 1000
    async with aclosing(_ahead(pieces)) as ready:
        async for piece in ready:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            yield piece
            due = max(due, time.monotonic()) + count_tokens(piece) / pacing.tokens_per_second


#: How long after its last token a reply is told to be finished, in seconds. Storing it takes longer
#: where memories are strengthened with it.
SETTLING = 0.3


async def settled(pacing: Pacing, *, shown: float) -> None:
    """Wait until a reply whose last token came at ``shown`` (``time.monotonic()``) may be told to
    be finished."""
    if pacing.enabled:
        await asyncio.sleep(max(0.0, shown + SETTLING - time.monotonic()))


async def floor(pacing: Pacing, *, asked: float) -> None:
    """Wait until the first token may be shown: a failure must not be known sooner."""
    if pacing.enabled:
        await asyncio.sleep(max(0.0, asked + pacing.first_token_ms / 1000 - time.monotonic()))


async def _ahead(pieces: AsyncIterator[str]) -> AsyncGenerator[str, None]:
    """Read as fast as the pieces come, however slowly they are handed on: pacing must neither hold
    up the model's connection nor be taken for its latency."""
    read: asyncio.Queue[str | None] = asyncio.Queue()

    async def read_all() -> None:
        try:
            async for piece in pieces:
                read.put_nowait(piece)
        finally:
            read.put_nowait(None)

    reading = asyncio.create_task(read_all())
    try:
        while (piece := await read.get()) is not None:
            yield piece
        await reading  # raises what ended the stream
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
