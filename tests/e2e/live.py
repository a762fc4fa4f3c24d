"""The real web process on a port of its own, which a test can kill and start again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from django.conf import settings
from django.db import connection

START_WITHIN = 30.0  # seconds


class WebProcess:
    """`python -m uvicorn memlab.asgi:application` on this test's database."""

    def __init__(self) -> None:
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it answers; raises AssertionError if it doesn't."""
        command = [sys.executable, "-m", "uvicorn", "memlab.asgi:application"]
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning"]
        environment = {
            **os.environ,
            "DATABASE_URL": _database_url(),
            "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
        }
        self._process = subprocess.Popen([*command, *options], env=environment)
        deadline = time.monotonic() + START_WITHIN
        while not self._answers():
            assert self._process.poll() is None, "the web process ended while starting"
            assert time.monotonic() < deadline, "the web process doesn't answer"
            time.sleep(0.1)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.address}/health/", timeout=5) as response:
                return response.status == 200
        except URLError:
            return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _database_url() -> str:
    made = connection.settings_dict
    password = f":{quote(made['PASSWORD'], safe='')}" if made["PASSWORD"] else ""
    host, port = made["HOST"], made["PORT"]
    return f"postgresql://{quote(made['USER'])}{password}@{host}:{port}/{made['NAME']}"
