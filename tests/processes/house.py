"""A whole installation of real processes that a test may kill."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import psycopg
from cryptography.fernet import Fernet
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from memlab.core.devdb import DevelopmentDatabase

CHECKOUT = Path(__file__).resolve().parents[2]


class House:
    """A database of its own, web processes and a task cluster, all from this checkout."""

    def __init__(self, folder: Path, model_url: str, **environment: str) -> None:
        self.folder = folder
        self.database = DevelopmentDatabase(folder / "pg")
        self.url = self.database.start()
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.processes.settings",
            "DATABASE_URL": self.url,
            "MEMLAB_SECRET_KEYS": Fernet.generate_key().decode(),
            "MEMLAB_MODEL_URLS": model_url,
            "MEMLAB_TASK_WORKERS": "1",
            **environment,
        }
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, *command: str) -> str:
        """Run one command to its end; its output."""
        done = subprocess.run(
            [sys.executable, *command], cwd=CHECKOUT, env=self.environment, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def start(self, name: str, *command: str) -> None:
        """Start one command and leave it running."""
        self._spawn(name, sys.executable, *command)

    def start_web(self, name: str = "web") -> int:
        """A web process; the port it answers on."""
        port = _free_port()
        self._spawn(
            name, sys.executable, "-m", "uvicorn", "memlab.asgi:application", "--port", str(port),
            "--log-level", "warning",
        )  # fmt: skip
        _wait_until(lambda: _answers(port), "the web process did not start")
        return port

    def start_redis(self, executable: str) -> None:
        """A channel layer for several web processes, which start after it."""
        port = _free_port()
        self.environment["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
        self._spawn("redis", executable, "--port", str(port), "--bind", "127.0.0.1", "--save", "")
        _wait_until(lambda: _answers(port), "redis did not start")

    def start_tasks(self) -> None:
        self._spawn("tasks", sys.executable, "manage.py", "qcluster")

    def start_worker(self, name: str, module: str, *arguments: str) -> None:
        """A process of a test's own."""
        self._spawn(name, sys.executable, "-m", module, *arguments)

    def _spawn(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command, cwd=CHECKOUT, env=self.environment, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def kill(self, name: str) -> None:
        """kill -9 a part with everything it started, as a machine that goes down does."""
        process = self._running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What the database holds, policies or not."""
        with psycopg.connect(self.database.superuser_url()) as connection:
            return connection.execute(query, parameters).fetchall()

    async def until(self, query: str, *parameters: Any, within: float = 60) -> None:
        """Wait until a query that answers with one boolean says true."""
        deadline = time.monotonic() + within
        while not self.ask(query, *parameters)[0][0]:
            assert time.monotonic() < deadline, f"never came true: {query} {parameters}"
            await asyncio.sleep(0.3)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def kill_all(self) -> None:
        for name in list(self._running):
            self.kill(name)

    def close(self) -> None:
        self.kill_all()
        self.database.remove()


class Guest:
    """A participant's browser: it numbers what it says and says it again until it is acked."""

    def __init__(self, person: dict[str, str], port: int) -> None:
        self.person, self.port = person, port
        self.said: list[tuple[str, str]] = []  # (client_id, text), in order
        self.acked: set[str] = set()
        self.frames: list[dict[str, Any]] = []
        self._socket: ClientConnection

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    async def connect(self) -> None:
        """Connect, greet and say again what was never acknowledged."""
        address = f"127.0.0.1:{self.port}"
        deadline = time.monotonic() + 20
        while True:
            try:
                self._socket = await connect(
                    f"ws://{address}/ws/chat/{self.person['session']}/",
                    additional_headers={"Cookie": self.person["cookie"]},
                    origin=f"http://{address}",  # type: ignore[arg-type]
                )
                await self.send({"type": "hello", "settled_seq": 0})
                break
            except (OSError, ConnectionClosed):
                assert time.monotonic() < deadline, "the web process can't be reached"
                await asyncio.sleep(0.2)
        for client_id, text in self.said:
            if client_id not in self.acked:
                await self.send({"type": "say", "client_id": client_id, "text": text})

    async def send(self, frame: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(frame))

    async def say(self, text: str) -> None:
        client_id = str(uuid4())
        self.said.append((client_id, text))
        await self.send({"type": "say", "client_id": client_id, "text": text})

    async def until(
        self, wanted: Callable[[dict[str, Any]], bool], *, within: float = 60
    ) -> dict[str, Any]:
        """Read frames up to a wanted one, connecting again whenever the line drops and looking
        again every second, as the page does."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            try:
                frame = json.loads(await asyncio.wait_for(self._socket.recv(), 1))
            except TimeoutError:
                await self.send({"type": "hello", "settled_seq": 0})
                continue
            except ConnectionClosed:
                await asyncio.sleep(0.2)
                await self.connect()
                continue
            self.frames.append(frame)
            if frame["type"] == "ack":
                self.acked.add(frame["client_id"])
            if wanted(frame):
                return frame
        raise AssertionError(f"the frame never came; the last were {self.frames[-5:]}")

    async def until_settled(self, *, within: float = 60) -> list[dict[str, Any]]:
        """Wait until everything that was said is acknowledged and answered; the history."""

        def settled(frame: dict[str, Any]) -> bool:
            if frame["type"] != "history":
                return False
            there = {item.get("client_id") for item in frame["items"]}
            return {client_id for client_id, _ in self.said} <= there and all(
                item["state"] == "settled" for item in frame["items"]
            )

        await self.send({"type": "hello", "settled_seq": 0})
        history = await self.until(settled, within=within)
        items: list[dict[str, Any]] = history["items"]
        return items


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_until(holds: Callable[[], bool], otherwise: str, *, within: float = 40) -> None:
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.1)
