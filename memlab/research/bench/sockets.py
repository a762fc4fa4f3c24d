"""What an open chat socket costs in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from memlab.research.bench.clients import Seat, open_chats
from memlab.research.bench.report import Figure
from memlab.research.bench.server import serving

WARM = 20  # sockets that come and go first, so that code and caches are there
REST = 2.0  # seconds for a server to come to rest


def measure(seats: Sequence[Seat], say: Callable[[str], None]) -> list[Figure]:
    """KiB a greeted, idle socket, in a fresh process of each server."""
    figures = []
    for name, application in (("", "platform"), (", bare", "bare")):
        say(f"sockets: {len(seats)} idle ones, {application}")
        grown = asyncio.run(_grown(application, seats))
        each = grown / len(seats) / 1024
        figures.append(Figure(name=f"memory of an idle socket{name}", value=each, unit="KiB"))
    return figures


async def _grown(application: str, seats: Sequence[Seat]) -> int:
    """Bytes that the process has grown by with every seat connected."""
    with serving(application) as server:
        async with open_chats(server.origin, seats[:WARM]):
            pass
        await asyncio.sleep(REST)
        before = server.resident_bytes()
        async with open_chats(server.origin, seats):
            await asyncio.sleep(REST)
            return server.resident_bytes() - before
