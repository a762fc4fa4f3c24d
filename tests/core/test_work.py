"""Units of database work, awaited."""

from __future__ import annotations

import asyncio
import threading

import pytest

from memlab.core.work import unit


async def test_cancelling_waits_for_a_unit_that_has_begun() -> None:
    """Whoever cleans up after a cancelled task must find nobody still writing."""
    began, may_end = threading.Event(), threading.Event()
    ended = []

    def work() -> None:
        began.set()
        may_end.wait(5)
        ended.append(True)

    task = asyncio.create_task(unit(work))
    await asyncio.to_thread(began.wait, 5)
    task.cancel()
    await asyncio.sleep(0.05)
    assert not task.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


async def test_a_units_fault_reaches_whoever_awaits_it() -> None:
    with pytest.raises(ZeroDivisionError):
        await unit(lambda: 1 // 0)
