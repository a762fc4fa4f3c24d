"""A tab of the chat page, as a test drives it."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID, uuid4

from asgiref.testing import ApplicationCommunicator
from django.http import HttpResponse
from jsonschema import Draft202012Validator

from experiments.access import COOKIE, ParticipantRef, remember
from experiments.models import Participant
from memlab.asgi import routed
from tests.studies import reference_of

Frame = dict[str, Any]

_SCHEMA = json.loads(
    (Path(__file__).parents[2] / "chat/static/chat/protocol.schema.json").read_text("utf-8")
)
#: What the server may send, by the protocol's own schema: every test checks every frame.
SERVER_FRAMES = Draft202012Validator({**_SCHEMA, "oneOf": [{"$ref": "#/$defs/server_frame"}]})


class Tab:
    """``async with Tab(participant, session_id) as tab`` connects, says hello and keeps every
    frame it got in ``frames``."""

    def __init__(
        self,
        participant: Participant | None,
        session: UUID,
        *,
        origin: str = "http://testserver",
        settled: int = 0,
    ) -> None:
        headers = [(b"host", b"testserver"), (b"origin", origin.encode())]
        if participant is not None:
            headers.append((b"cookie", cookie_of(participant).encode()))
        scope = {
            "type": "websocket",
            "path": f"/ws/chat/{session}/",
            "query_string": b"",
            "headers": headers,
            "subprotocols": [],
        }
        self.socket = ApplicationCommunicator(routed, scope)
        self.frames: list[Frame] = []
        self.raw: list[str] = []
        self.settled = settled

    async def __aenter__(self) -> Self:
        await self.socket.send_input({"type": "websocket.connect"})
        assert (await self.socket.receive_output(5))["type"] == "websocket.accept"
        await self.send({"type": "hello", "settled_seq": self.settled})
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.socket.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.socket.wait(5)

    async def send(self, frame: Frame | str) -> None:
        text = frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False)
        await self.socket.send_input({"type": "websocket.receive", "text": text})

    async def say(self, text: str, client_id: UUID | None = None) -> UUID:
        client_id = client_id or uuid4()
        await self.send({"type": "say", "client_id": str(client_id), "text": text})
        return client_id

    async def next(self, timeout: float = 10) -> Frame:
        event = await self.socket.receive_output(timeout)
        assert event["type"] == "websocket.send", event
        return self._kept(event["text"])

    async def until(self, kind: str, timeout: float = 10) -> Frame:
        """Read frames up to the next one of a type."""
        while (frame := await self.next(timeout))["type"] != kind:
            pass
        return frame

    async def closed(self, timeout: float = 5) -> int:
        """The code the server closes with, after whatever it still sends."""
        while True:
            event = await self.socket.receive_output(timeout)
            if event["type"] == "websocket.close":
                return int(event["code"])
            self._kept(event["text"])

    def _kept(self, text: str) -> Frame:
        """A frame as the protocol has it, or the test fails."""
        frame: Frame = json.loads(text)
        errors = [error.message for error in SERVER_FRAMES.iter_errors(frame)]
        assert not errors, (frame, errors)
        self.raw.append(text)
        self.frames.append(frame)
        return frame


def cookie_of(participant: Participant, reference: ParticipantRef | None = None) -> str:
    """A participant's cookie; ``reference`` signs something else than the truth."""
    response = HttpResponse()
    remember(response, reference or reference_of(participant))
    return f"{COOKIE}={response.cookies[COOKIE].value}"
