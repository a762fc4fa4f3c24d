"""A uvicorn process under measurement."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import psutil
from django.conf import settings

from memlab.research.bench.scratch import database_url

CHECKOUT = Path(__file__).resolve().parents[3]
START_WITHIN = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; ``origin`` is its host and port."""

    origin: str
    process: subprocess.Popen[bytes]

    def resident_bytes(self) -> int:
        """Memory that its process holds."""
        return int(psutil.Process(self.process.pid).memory_info().rss)


@contextmanager
def serving(
    application: str,
    *,
    module: str = "memlab.research.bench.web",
    settings_module: str = "memlab.settings.production",
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Server]:
    """``application`` of ``module`` under the production settings, pool included.

    ``environment`` adds to what the process is told by its variables.
    """
    port = _free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "uvicorn", f"{module}:{application}"),
            *("--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"),
        ],
        cwd=CHECKOUT,
        env=os.environ | _environment(settings_module) | dict(environment),
    )
    try:
        _wait_for(port, process)
        yield Server(f"127.0.0.1:{port}", process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(settings_module: str) -> dict[str, str]:
    """The same secrets as here, for cookies and keys that were made here."""
    return {
        "DJANGO_SETTINGS_MODULE": settings_module,
        "DATABASE_URL": database_url(),
        "MEMLAB_WEB_PROCESS": "true",
        "ALLOWED_HOSTS": "127.0.0.1",
        "SECRET_KEY": settings.SECRET_KEY,
        "MEMLAB_SECRET_KEYS": ",".join(settings.PROVIDER_KEY_SECRETS),
        "REDIS_URL": "",
        "MEMLAB_ERASURE_LOG": str(settings.ERASURE_LOG),
        # Sockets and pages are measured, and a checkout has no static files collected.
        "PYTHONWARNINGS": "ignore:No directory at:UserWarning",
    }


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_WITHIN
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The server on port {port} didn't start; see its messages above.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
