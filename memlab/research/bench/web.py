"""The two servers that are compared: the real web process, and the barest that could stand there.

Run by uvicorn: ``memlab.research.bench.web:platform`` and ``memlab.research.bench.web:bare``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memlab.settings.production")

from channels.routing import get_default_application

web_process = get_default_application()  # before anything that needs the apps

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402

from chat.makers import makers  # noqa: E402
from chat.streaming import in_batches  # noqa: E402
from experiments.doors import DoorKeeper  # noqa: E402
from memlab.research.bench.doors import TOKEN, TOKENS, costless_doors, tokens  # noqa: E402

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def platform(scope: Scope, receive: Receive, send: Send) -> None:
    """The web process as it is, whose models cost nothing."""
    if scope["type"] == "lifespan":
        makers(DoorKeeper(costless_doors))
    await web_process(scope, receive, send)


class BareConsumer(AsyncWebsocketConsumer):
    """Acknowledges and streams the same tokens in the same batches; stores and knows nothing."""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        frame = json.loads(text_data or "")
        if frame["type"] == "hello":
            await self._send({"type": "timer"})
            return
        await self._send({"type": "ack", "client_id": frame["client_id"]})

        async def show(number: int, text: str) -> None:
            await self._send({"type": "token", "n": number, "text": text})

        await in_batches(tokens(), show)
        await self._send({"type": "reply", "text": TOKEN * TOKENS})

    async def _send(self, frame: dict[str, Any]) -> None:
        await self.send(json.dumps(frame, ensure_ascii=False))


bare_consumer = BareConsumer.as_asgi()


async def bare(scope: Scope, receive: Receive, send: Send) -> None:
    """Sockets only, without routing, cookies or a lifespan."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
    else:
        await bare_consumer(scope, receive, send)
