"""Equal latency in every arm: a floor for the first token and a fixed rate after it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator

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
    async for piece in pieces:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        yield piece
        due = max(due, time.monotonic()) + count_tokens(piece) / pacing.tokens_per_second
