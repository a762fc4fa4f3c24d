"""Database connections that suit a replay: kept between units, and not waiting for the disk.

A live turn waits for models; a replay waits for nothing but the database. Opening a connection
for each unit took two fifths of its time, and what it writes is erased in the end, so a commit
need not have reached the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Barrier
from typing import Any

from django.conf import settings
from django.db import connections

from memlab.core.work import unit

NOT_WAITING = "-c synchronous_commit=off"


@asynccontextmanager
async def kept_open() -> AsyncIterator[None]:
    """Let the database threads keep their connections while the body runs; close them after it."""
    database: dict[str, Any] = connections.settings["default"]
    before = {name: database[name] for name in ("CONN_MAX_AGE", "OPTIONS")}
    if "pool" not in before["OPTIONS"]:
        given = before["OPTIONS"].get("options", "")
        database["CONN_MAX_AGE"] = None
        database["OPTIONS"] = {**before["OPTIONS"], "options": f"{given} {NOT_WAITING}".strip()}
    try:
        yield
    finally:
        database.update(before)
        await asyncio.shield(_close_all())


async def _close_all() -> None:
    """Once in every database thread: each waits at the barrier until all are there."""
    threads = settings.DATABASE_THREADS
    barrier = Barrier(threads)
    await asyncio.gather(*(unit(_close, barrier) for _thread in range(threads)))


def _close(barrier: Barrier) -> None:
    barrier.wait()
    connections.close_all()
