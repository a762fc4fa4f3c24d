"""Running one synchronous unit of database work from asynchronous code.

Channels' own ``database_sync_to_async`` runs on a single thread for all sockets of a process, so
one slow statement holds up everybody. Units here run on a few threads, each with a connection of
its own. That is safe because a unit is *one* function with its ``lab_scope`` inside: no
transaction ever spans two units.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="memlab-database")


async def unit(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Await ``work(*args, **kwargs)`` on a database thread.

    A unit that has begun commits or rolls back whole: cancelling the awaiting task waits for that
    before it goes on, so that whoever cleans up afterwards finds no unit still writing.
    """
    call = partial(copy_context().run, _run, partial(work, *args, **kwargs))
    begun = _threads().submit(call)
    ending = asyncio.wrap_future(begun)
    try:
        return await asyncio.shield(ending)
    except asyncio.CancelledError:
        if not begun.cancel():
            await asyncio.wait([ending])
        raise


def _run(work: Callable[[], Result]) -> Result:
    for connection in connections.all(initialized_only=True):
        connection.close_if_unusable_or_obsolete()
    try:
        return work()
    finally:
        for connection in connections.all(initialized_only=True):
            connection.close_if_unusable_or_obsolete()
