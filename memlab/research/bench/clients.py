"""Participants at their sockets: say something, wait for the reply, think, say the next thing."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 60.0  # seconds for any one frame
AT_ONCE = 25  # handshakes under way together


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where one participant talks: session and cookie."""

    session: UUID
    cookie: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Seconds from sending a message to its ack, its first token and its whole reply."""

    ack: float
    first_token: float
    reply: float


class Chat:
    """One open socket that has been greeted."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    @classmethod
    async def opened(cls, origin: str, seat: Seat) -> Chat:
        socket = await connect(
            f"ws://{origin}/ws/chat/{seat.session}/",
            origin=f"http://{origin}",  # type: ignore[arg-type]
            additional_headers={"Cookie": seat.cookie},
            open_timeout=PATIENCE,
            ping_interval=None,
        )
        chat = cls(socket)
        await chat._send({"type": "hello", "settled_seq": 0})
        await chat._until("timer")
        return chat

    async def turn(self, text: str) -> Turn:
        started = time.perf_counter()
        await self._send({"type": "say", "client_id": str(uuid4()), "text": text})
        await self._until("ack")
        acknowledged = time.perf_counter()
        await self._until("token")
        begun = time.perf_counter()
        await self._until("reply")
        return Turn(
            ack=acknowledged - started,
            first_token=begun - started,
            reply=time.perf_counter() - started,
        )

    async def close(self) -> None:
        await self._socket.close()

    async def _send(self, frame: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(frame))

    async def _until(self, kind: str) -> None:
        while True:
            async with asyncio.timeout(PATIENCE):
                frame = json.loads(await self._socket.recv())
            if frame["type"] == kind:
                return
            if frame["type"] in ("error", "failed", "stage_over"):
                raise RuntimeError(f"The server answered {frame} instead of {kind!r}.")


@asynccontextmanager
async def open_chats(origin: str, seats: Sequence[Seat]) -> AsyncIterator[list[Chat]]:
    """A greeted socket for each seat."""
    handshakes = asyncio.Semaphore(AT_ONCE)

    async def open_one(seat: Seat) -> Chat:
        async with handshakes:
            return await Chat.opened(origin, seat)

    async with AsyncExitStack() as stack:
        chats = await asyncio.gather(*(open_one(seat) for seat in seats))
        for chat in chats:
            stack.push_async_callback(chat.close)
        yield list(chats)


async def converse(chats: Sequence[Chat], *, every: float, seconds: float) -> list[Turn]:
    """Every chat says something once in ``every`` seconds, spread evenly over that time, for
    ``seconds``; ``every`` of 0 is without a pause, all beginning together. The turns."""
    over = time.monotonic() + seconds
    started = time.monotonic()

    async def talk(place: int, chat: Chat) -> list[Turn]:
        turns: list[Turn] = []
        due = started + every * place / len(chats)
        while due < over:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            turns.append(await chat.turn(f"What do you make of that? ({len(turns)})"))
            due = max(due + every, time.monotonic())
        return turns

    each = await asyncio.gather(*(talk(place, chat) for place, chat in enumerate(chats)))
    return [turn for turns in each for turn in turns]
