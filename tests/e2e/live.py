"""The real processes on this test's database: a web process, which a test can kill and start
again, and a task cluster."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from django.conf import settings
from django.db import connection

CHECKOUT = Path(__file__).resolve().parents[2]
START_WITHIN = 30.0  # seconds


class LiveProcess:
    """A command on this test's database. What it says goes to ``log``, else to this terminal."""

    def __init__(self, environment: Mapping[str, str] | None = None, log: Path | None = None):
        self._environment = dict(environment or {})
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def kill(self) -> None:
        """End it at once with everything it started, as a crash would."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _run(self, *command: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "DATABASE_URL": _database_url(),
            "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
            **self._environment,
        }
        output = None if self._log is None else self._log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, *command],
            cwd=CHECKOUT,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        if output is not None:
            output.close()
        return self._process


class TaskProcess(LiveProcess):
    """`manage.py qcluster` on this test's database; tasks wait until it is there."""

    def start(self) -> None:
        self._run("manage.py", "qcluster")


class WebProcess(LiveProcess):
    """`python -m uvicorn memlab.asgi:application` on this test's database."""

    def __init__(self, environment: Mapping[str, str] | None = None, log: Path | None = None):
        super().__init__(environment, log)
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and wait until it answers; raises AssertionError if it doesn't."""
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning"]
        process = self._run("-m", "uvicorn", "memlab.asgi:application", *options)
        deadline = time.monotonic() + START_WITHIN
        while not self._answers():
            assert process.poll() is None, "the web process ended while starting"
            assert time.monotonic() < deadline, "the web process doesn't answer"
            time.sleep(0.1)

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
