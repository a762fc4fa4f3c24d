"""One participant's second conversation as their browser has it: pages, socket, and a stopwatch."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any
from uuid import uuid4

import httpx
from websockets.asyncio.client import ClientConnection, connect

from memlab.core.llm.tokens import count_tokens
from memlab.research.blinding.normal import Exchange, frames_for_all, same_for_all
from memlab.research.blinding.people import SAYS, STAGE, Person

PATIENCE = 90.0  # seconds for any one answer
LOOK_AGAIN = 2.0  # seconds, as the waiting page says
TYPING = 0.4  # seconds from a reply to the next message
_CHAT = re.compile(r"/chat/([0-9a-f-]{36})/")

Frame = dict[str, Any]
Remember = Callable[[], Awaitable[object]]


@dataclass
class Seen:
    """What one browser has seen: ``structure`` as it must be in every arm, ``times`` in ms (and
    tokens) by the name of the measure."""

    structure: list[str] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)

    def took(self, name: str, value: float) -> None:
        self.times.setdefault(name, []).append(value)


class Visit:
    """``remember`` does what the task cluster does: it is called when the study would call it."""

    def __init__(self, origin: str, person: Person, turns: int, remember: Remember) -> None:
        self.origin, self.person, self.turns, self.remember = origin, person, turns, remember
        self.seen = Seen()

    async def whole(self) -> Seen:
        """From the overview through the conversation to what follows it."""
        async with httpx.AsyncClient(
            base_url=f"http://{self.origin}",
            headers={"Cookie": self.person.cookie, "X-Forwarded-Proto": "https"},
            timeout=PATIENCE,
        ) as client:
            for path in ("/journey/", "/journey/messages/", "/journey/withdraw/"):
                await self._page(client, path)
            entered = await self._page(client, f"/journey/stage/{STAGE}/", measure="enter a stage")
            remembering = asyncio.ensure_future(self.remember())
            chat = str(entered.headers["Location"])
            await self._until_ready(client, chat)
            found = _CHAT.search(chat)
            assert found is not None, f"{chat} is no conversation"
            await self._talk(found[1])
            await remembering
            await self._page(client, f"/journey/after/{found[1]}/", measure="leave a stage")
            for path in (f"/journey/done/{STAGE}/", f"/journey/stage/{STAGE}/", "/journey/"):
                await self._page(client, path)
        return self.seen

    async def _page(
        self, client: httpx.AsyncClient, path: str, *, measure: str = "a page"
    ) -> httpx.Response:
        started = time.perf_counter()
        response = await client.get(path)
        self.seen.took(measure, (time.perf_counter() - started) * 1000)
        self._keep(response)
        return response

    def _keep(self, response: httpx.Response) -> None:
        headers = tuple((name.decode(), value.decode()) for name, value in response.headers.raw)
        exchange = Exchange(
            asked=f"{response.request.method} {response.request.url.raw_path.decode()}",
            status=response.status_code,
            headers=headers,
            body=response.content,
        )
        self.seen.structure.append(same_for_all(exchange, {self.person.code: "code"}))

    async def _until_ready(self, client: httpx.AsyncClient, chat: str) -> None:
        """The chat page, and how long it said that the conversation is being prepared."""
        started = time.perf_counter()
        response = await client.get(chat)
        self._keep(response)
        while 'http-equiv="refresh"' in response.text:
            await asyncio.sleep(LOOK_AGAIN)
            response = await client.get(chat)
        self.seen.took("until the conversation is ready", (time.perf_counter() - started) * 1000)
        self._keep(response)

    async def _talk(self, session: str) -> None:
        async with connect(
            f"ws://{self.origin}/ws/chat/{session}/",
            origin=f"http://{self.origin}",  # type: ignore[arg-type]
            additional_headers={"Cookie": self.person.cookie},
            open_timeout=PATIENCE,
            ping_interval=None,
        ) as socket:
            tab = _Tab(socket, self.seen)
            self.seen.took("history", await tab.until("timer", hello=True))
            for number in range(self.turns):
                await tab.turn(SAYS[number % len(SAYS)], first=number == 0)
                await asyncio.gather(self.remember(), asyncio.sleep(TYPING))
            self.seen.took("end", await tab.until("stage_over", end=True))
        self.seen.structure += frames_for_all(tab.frames)


class _Tab:
    """An open socket with every frame that came through it."""

    def __init__(self, socket: ClientConnection, seen: Seen) -> None:
        self.socket, self.seen = socket, seen
        self.frames: list[Frame] = []

    async def until(self, kind: str, *, hello: bool = False, end: bool = False) -> float:
        """Ask, and wait for a frame of a type; ms."""
        started = time.perf_counter()
        if hello:
            await self._send({"type": "hello", "settled_seq": 0})
        if end:
            await self._send({"type": "end"})
        while await self._next() != kind:
            pass
        return (time.perf_counter() - started) * 1000

    async def turn(self, text: str, *, first: bool) -> None:
        started = time.perf_counter()
        before = len(self.frames)
        await self._send({"type": "say", "client_id": str(uuid4()), "text": text})
        moments: dict[str, list[float]] = {}
        while (kind := await self._next()) != "timer":
            moments.setdefault(kind, []).append((time.perf_counter() - started) * 1000)
        tokens, (settled,) = moments["token"], moments["reply"]
        pieces = [frame["text"] for frame in self.frames[before:] if frame["type"] == "token"]
        self.seen.took("ack", moments["ack"][0])
        self.seen.took("waiting", moments["waiting"][0])
        self.seen.took("first token, first turn" if first else "first token", tokens[0])
        self.seen.took("from the last token to the reply", settled - tokens[-1])
        if len(tokens) > 1:
            gaps = [later - sooner for sooner, later in pairwise(tokens)]
            shown = count_tokens("".join(pieces[:-1]))
            self.seen.took("a token's time", (tokens[-1] - tokens[0]) / max(1, shown))
            self.seen.took("between two token frames", median(gaps))

    async def _send(self, frame: Frame) -> None:
        await self.socket.send(json.dumps(frame))

    async def _next(self) -> str:
        async with asyncio.timeout(PATIENCE):
            frame = json.loads(await self.socket.recv())
        self.frames.append(frame)
        if frame["type"] in ("error", "failed"):
            raise RuntimeError(f"The server answered {frame}.")
        return str(frame["type"])
