"""The socket of the chat page: authenticate, decode, call, send. No logic."""

from __future__ import annotations

import asyncio
import time
from typing import Any, ClassVar
from urllib.parse import urlsplit

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http.request import validate_host

from chat import conversation, doorbell, frames
from chat.conversation import NoSuchSession, Refused, SessionRef
from chat.makers import makers
from chat.messages import sentence
from chat.rates import TokenBuckets
from experiments.access import recognise
from memlab.core.clock import wall_now
from memlab.core.work import unit

HELLO_WITHIN = 10.0  # seconds
TYPING_EVERY = 5.0
NOT_SIGNED_IN, BAD_ORIGIN, NO_SUCH_SESSION, NO_HELLO = 4401, 4403, 4404, 4408


class ChatConsumer(AsyncWebsocketConsumer):
    """One tab of one session. Frames as in docs/protocol.md."""

    participants: ClassVar[TokenBuckets] = TokenBuckets(*settings.CHAT_PARTICIPANT_RATE)
    labs: ClassVar[TokenBuckets] = TokenBuckets(*settings.CHAT_LAB_RATE)

    reference: SessionRef
    language: str = "en"
    greeted: bool = False
    joined: bool = False
    _typed_at: float = float("-inf")
    _hello_due: asyncio.TimerHandle | None = None

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Channels goes to another thread before every event, each token frame included, to close
        old database connections. Units of work look after theirs themselves."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        await self.accept()  # a browser learns no close code from a refused handshake
        if not _same_site(self.scope):
            await self._error("origin")
            await self.close(BAD_ORIGIN)
            return
        owner = recognise(self.scope["cookies"])
        if owner is None:
            await self.close(NOT_SIGNED_IN)
            return
        self.reference = SessionRef.of(owner, self.scope["url_route"]["kwargs"]["session"])
        loop = asyncio.get_running_loop()
        self._hello_due = loop.call_later(
            HELLO_WITHIN, lambda: asyncio.ensure_future(self.close(NO_HELLO))
        )

    async def disconnect(self, code: int) -> None:
        if self._hello_due is not None:
            self._hello_due.cancel()
        if self.joined:
            group = doorbell.group_of(self.reference.session)
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not hasattr(self, "reference"):
            return  # refused at connecting; the close is on its way
        try:
            await self._handle(frames.read(text_data))
        except frames.BadFrame as bad:
            await self._error(bad.code, bad.client_id)
        except NoSuchSession:
            await self.close(NO_SUCH_SESSION)

    async def chat_frame(self, event: dict[str, Any]) -> None:
        """A frame for every tab of the session, written already."""
        await self.send(event["text"])
        if event["last"]:
            await self.close(1000)

    async def _handle(self, frame: frames.Frame) -> None:
        if not self.greeted and not isinstance(frame, frames.Hello):
            raise frames.BadFrame("bad_frame")
        match frame:
            case frames.Hello(settled_seq):
                await self._hello(settled_seq)
            case frames.Say():
                await self._say(frame)
            case frames.Retry(seq):
                await self._retry(seq)
            case frames.Typing():
                await self._typing()
            case frames.End():
                await self._end()

    async def _hello(self, settled_seq: int) -> None:
        if self._hello_due is not None:
            self._hello_due.cancel()
        if not self.joined:
            # Before looking, so that nothing falls between the look and the doorbell.
            group = doorbell.group_of(self.reference.session)
            await self.channel_layer.group_add(group, self.channel_name)
            self.joined = True
        seen = await unit(
            conversation.view, self.reference, settled_seq=settled_seq, wall=wall_now()
        )
        self.greeted, self.language = True, seen.language
        await self._send(seen.history)
        await self._send(seen.timer)
        if seen.over is not None:
            await self._send(seen.over)
            await self.close(1000)

    async def _say(self, frame: frames.Say) -> None:
        lab, participant = self.reference.lab_id, self.reference.participant
        client_id = str(frame.client_id)
        if not self.participants.take(participant) or not self.labs.take(lab):
            await self._error("rate_limited", client_id)
            return
        try:
            said = await makers().say(self.reference, client_id=frame.client_id, text=frame.text)
        except Refused as refused:
            await self._error(refused.code, client_id)
            return
        await self._send(said.ack_frame())

    async def _typing(self) -> None:
        """Put idleness off; more than one in TYPING_EVERY seconds says nothing new."""
        if time.monotonic() - self._typed_at >= TYPING_EVERY:
            self._typed_at = time.monotonic()
            await unit(conversation.touch, self.reference, wall=wall_now())

    async def _retry(self, seq: int) -> None:
        try:
            await unit(conversation.retry, self.reference, seq=seq, wall=wall_now())
        except Refused as refused:
            await self._error(refused.code)
            return
        makers().start(self.reference.lab_id, self.reference.session)

    async def _end(self) -> None:
        finishing = await unit(conversation.finish, self.reference, wall=wall_now())
        seen = await unit(conversation.view, self.reference, settled_seq=0, wall=wall_now())
        if not finishing:
            await self._send(seen.timer)
        elif seen.over is not None:
            await doorbell.ring(self.reference.session, seen.over)

    async def _error(self, code: str, client_id: str | None = None) -> None:
        frame = {"type": "error", "code": str(code), "message": sentence(code, self.language)}
        await self._send(frame if client_id is None else {**frame, "client_id": client_id})

    async def _send(self, frame: dict[str, Any]) -> None:
        await self.send(frames.written(frame))


def _same_site(scope: dict[str, Any]) -> bool:
    """Whether the page that opens this socket is ours: its origin is the host it connects to."""
    headers = dict(scope["headers"])
    origin = urlsplit(headers.get(b"origin", b"").decode("latin-1"))
    host = headers.get(b"host", b"").decode("latin-1")
    allowed = settings.ALLOWED_HOSTS
    return origin.netloc == host and validate_host(host.rpartition(":")[0] or host, allowed)
