"""`make run` as a whole: everything up, the pages reachable, and nothing left after Ctrl-C."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

CHECKOUT = Path(__file__).resolve().parents[1]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A data folder and a port of its own, so that a running Memlab isn't disturbed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memlab.settings.development",
        "MEMLAB_DATA_DIR": str(tmp_path),
        "MEMLAB_PORT": str(port),
    }
    environment.pop("DATABASE_URL", None)
    yield environment
    subprocess.run(
        [sys.executable, "-m", "memlab.core.devdb", "remove"],
        cwd=CHECKOUT,
        env=environment,
        check=True,
    )


def test_run_serves_the_demo_and_ctrl_c_leaves_nothing_behind(environment: dict[str, str]) -> None:
    first = start_and_stop(environment)
    assert "database │ stopped" in first.after_stop
    # A second start finds everything there and gives a password as fresh as the first.
    second = start_and_stop(environment)
    assert second.password != first.password


class Run:
    """What one `make run` printed before it was asked to stop, and after."""

    after_stop = ""

    def __init__(self, printed: str) -> None:
        self.pages = re.findall(r"(?:English|中文）|days|天数）) +(http\S+)", printed)
        self.admin = found(r"Admin · .*?(http\S+)", printed)
        self.password = found(r"Password · 密码\s+(\S+)", printed)


def start_and_stop(environment: dict[str, str]) -> Run:
    with subprocess.Popen(
        [sys.executable, "-m", "memlab.launch"],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            run = read_until_up(process)
            started = psutil.Process(process.pid).children(recursive=True)
            assert any("qcluster" in child.cmdline() for child in started)
            assert [status_of(page) for page in run.pages] == [200, 200, 200, 200]
            assert status_of(run.admin) in {200, 302}
        finally:
            process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        run.after_stop = process.stdout.read()
    assert process.returncode == 0, run.after_stop
    _, left = psutil.wait_procs(started, timeout=5)
    assert left == []
    return run


def read_until_up(process: subprocess.Popen[str]) -> Run:
    printed = ""
    for line in process.stdout or ():
        printed += line
        if "Ctrl-C 停止" in line:
            return Run(printed)
    raise AssertionError(printed)


def status_of(url: str) -> int:
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.request("GET", f"/{path}")
        return connection.getresponse().status
    finally:
        connection.close()


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, text
    return match.group(1)
