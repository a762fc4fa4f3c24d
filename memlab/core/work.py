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

    Cancelling the awaiting task doesn't stop a unit that has begun: it commits or rolls back whole.
    """
    call = partial(copy_context().run, _run, partial(work, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


def _run(work: Callable[[], Result]) -> Result:
    for connection in connections.all(initialized_only=True):
        connection.close_if_unusable_or_obsolete()
    try:
        return work()
    finally:
        for connection in connections.all(initialized_only=True):
            connection.close_if_unusable_or_obsolete()
