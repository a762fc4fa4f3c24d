"""Holding on to something that runs out, for as long as a piece of work goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from django.db import Error as DatabaseFault

logger = logging.getLogger(__name__)


class LeaseLost(Exception):
    """Somebody else took over: the work under way is no longer wanted."""


@asynccontextmanager
async def renewed(renew: Callable[[], Awaitable[bool]], *, every: float) -> AsyncIterator[None]:
    """Await ``renew()`` every so many seconds while the body runs.

    Once it answers False, the body is cancelled where it stands and LeaseLost comes out instead. A
    renewal that the database couldn't take is tried again: whether the lease outlived that, the
    next one will say, and every write is fenced anyway.
    """
    owner = asyncio.current_task()
    assert owner is not None
    lost = False

    async def keep_on() -> None:
        nonlocal lost
        while True:
            await asyncio.sleep(every)
            try:
                held = await renew()
            except DatabaseFault as fault:
                logger.warning("a lease could not be renewed: %s", type(fault).__name__)
                continue
            if not held:
                lost = True
                owner.cancel()
                return

    renewing = asyncio.create_task(keep_on())
    try:
        yield
    except asyncio.CancelledError:
        # As asyncio.timeout does: only our own cancelling becomes an exception.
        if lost and owner.uncancel() == 0:
            raise LeaseLost from None
        raise
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
