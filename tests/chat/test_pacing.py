"""Pacing: when pieces are shown, and what a failing stream leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from chat.pacing import SETTLING, floor, paced, settled
from experiments.configuration import Pacing
from memlab.core.llm.base import FailureKind, ModelFailure

FAST = Pacing(enabled=True, first_token_ms=80, tokens_per_second=20.0)
OFF = Pacing(enabled=False, first_token_ms=80, tokens_per_second=20.0)


async def said(*pieces: str, read: list[float], fails: bool = False) -> AsyncIterator[str]:
    for piece in pieces:
        read.append(time.monotonic())
        yield piece
        await asyncio.sleep(0)
    if fails:
        raise ModelFailure(FailureKind.CUT_STREAM, "scripted")


async def shown(pacing: Pacing, *pieces: str) -> tuple[list[float], list[float]]:
    """Seconds after asking at which pieces were read from the model, and shown."""
    asked = time.monotonic()
    read: list[float] = []
    pieces_shown = paced(said(*pieces, read=read), pacing, asked=asked)
    times = [time.monotonic() - asked async for _piece in pieces_shown]
    return [moment - asked for moment in read], times


async def test_nothing_is_shown_before_the_floor_and_then_at_the_rate() -> None:
    """Three tokens at 20 a second: never earlier than 80, 130 and 180 ms."""
    _read, times = await shown(FAST, "one ", "two ", "three")
    assert [at >= least for at, least in zip(times, (0.08, 0.13, 0.18), strict=True)] == [True] * 3


async def test_the_model_is_read_ahead_of_the_pace() -> None:
    read, times = await shown(FAST, *["word "] * 6)
    assert read[-1] < times[1]


async def test_without_pacing_pieces_pass_as_they_come() -> None:
    read, times = await shown(OFF, "one ", "two ", "three")
    assert len(read) == len(times) == 3
    assert times[-1] < 0.08


@pytest.mark.parametrize("pacing", [FAST, OFF])
async def test_a_failing_stream_fails_after_what_it_gave(pacing: Pacing) -> None:
    pieces = paced(said("one ", read=[], fails=True), pacing, asked=time.monotonic())
    assert await anext(pieces) == "one "
    with pytest.raises(ModelFailure):
        await anext(pieces)


async def test_a_failure_is_not_known_before_a_first_token_could_be() -> None:
    asked = time.monotonic()
    await floor(FAST, asked=asked)
    assert time.monotonic() - asked >= 0.08
    await floor(OFF, asked=time.monotonic())
    assert time.monotonic() - asked < 0.16


async def test_when_a_reply_is_finished_doesnt_depend_on_how_long_it_took_to_store() -> None:
    shown = time.monotonic()
    await asyncio.sleep(SETTLING / 2)  # storing
    await settled(FAST, shown=shown)
    assert SETTLING <= time.monotonic() - shown < SETTLING + 0.2
    await settled(OFF, shown=time.monotonic())
    assert time.monotonic() - shown < SETTLING + 0.2
