"""The supervisor behind `make run`, with small real processes as its parts."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from memlab.core.devdb import DevelopmentDatabase
from memlab.launch.address import chosen_port, health, require_free
from memlab.launch.banner import Demo, banner, read_demo
from memlab.launch.errors import LaunchError, StopAskedError
from memlab.launch.supervisor import Supervisor

CHECKOUT = Path(__file__).resolve().parents[2]
SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]

# As a task cluster does it: a child that outlives its parent's death by kill -9.
WITH_A_CHILD = [
    sys.executable,
    "-c",
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print('child', child.pid, flush=True)\n"
    "time.sleep(60)",
]


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor(database=None)
    yield supervisor
    supervisor.stop()


def test_part_that_ends_is_reported_with_exit_code_and_last_lines(
    supervisor: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor.start("steady", SLEEP)
    supervisor.start("fragile", [sys.executable, "-c", "print('so far'); raise SystemExit(7)"])
    with pytest.raises(LaunchError, match="fragile ended with exit code 7") as crash:
        supervisor.watch_for_ever()
    assert "its last lines:\n    so far\n" in str(crash.value)
    assert "fragile  │ so far\n" in capsys.readouterr().out


def test_part_that_is_killed_is_reported_with_its_signal(supervisor: Supervisor) -> None:
    supervisor.start("fragile", [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    with pytest.raises(LaunchError, match="fragile was killed by SIGKILL"):
        supervisor.watch_for_ever()


def test_stop_ends_parts_and_what_they_left_behind(supervisor: Supervisor) -> None:
    supervisor.start("steady", SLEEP)
    supervisor.start("cluster", WITH_A_CHILD)
    wait_for(lambda: len(descendants()) >= 5)
    started = descendants()
    supervisor.stop()
    wait_for(lambda: not any(map(alive, started)))


def test_preparing_command_returns_its_words_or_fails_with_them(supervisor: Supervisor) -> None:
    assert supervisor.run_to_end("step", [sys.executable, "-c", "print('done')"]) == "done"
    with pytest.raises(LaunchError, match="step ended with exit code 3") as failure:
        supervisor.run_to_end("step", [sys.executable, "-c", "print('no disk'); exit(3)"])
    assert "    no disk\n" in str(failure.value)


def test_signal_interrupts_a_preparing_command(supervisor: Supervisor) -> None:
    previous = signal.getsignal(signal.SIGINT)
    supervisor.obey_signals()
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(StopAskedError):
            supervisor.run_to_end("step", SLEEP)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, previous if number == signal.SIGINT else signal.SIG_DFL)


def test_part_that_never_gets_well_is_given_up(supervisor: Supervisor) -> None:
    supervisor.start("steady", SLEEP)
    with pytest.raises(LaunchError, match="not up after 0 s: still starting"):
        supervisor.wait_until(lambda: "still starting", within=0.1)


def test_parts_end_when_the_supervisor_is_killed() -> None:
    script = (
        "import sys\n"
        "from memlab.launch.supervisor import Supervisor\n"
        "supervisor = Supervisor(database=None)\n"
        f"supervisor.start('cluster', {WITH_A_CHILD!r})\n"
        "supervisor.watch_for_ever()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        killed.stdout.readline()
        started = psutil.Process(killed.pid).children(recursive=True)
        assert len(started) == 3
        killed.kill()
    wait_for(lambda: not any(map(alive, started)), seconds=20)


def test_death_of_the_database_is_reported(tmp_path: Path) -> None:
    database = DevelopmentDatabase(tmp_path / "pg", durable=False)
    supervisor = Supervisor(database)
    try:
        supervisor.start_database()
        supervisor.watch_once()
        database.kill()
        with pytest.raises(LaunchError, match="the database ended by itself"):
            supervisor.watch_for_ever()
    finally:
        supervisor.stop()
        database.remove()


def test_database_is_stopped_only_by_who_started_it(tmp_path: Path) -> None:
    database = DevelopmentDatabase(tmp_path / "pg", durable=False)
    try:
        first, second = Supervisor(database), Supervisor(database)
        first.start_database()
        second.start_database()
        second.stop()
        assert database.is_running()
        first.stop()
        assert not database.is_running()
    finally:
        database.remove()


def test_taken_port_names_its_holder_and_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(LaunchError) as taken:
            require_free(port)
    assert f"port {port} is taken by process {os.getpid()}" in str(taken.value)
    assert f"MEMLAB_PORT={port + 1} make run" in str(taken.value)
    require_free(port)


def test_port_comes_from_the_environment() -> None:
    assert chosen_port(None) == chosen_port("") == 8000
    assert chosen_port("8123") == 8123
    for wrong in ("http", "0", "65536", "-1", "80 80"):
        with pytest.raises(LaunchError, match="which is no port"):
            chosen_port(wrong)


def test_health_says_what_is_wrong_until_nothing_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        threading.Thread(target=answer, args=(server, [b"503 No", b"200 OK"])).start()
        assert health(port) == "/health/ answers 503"
        assert health(port) is None
    assert (health(port) or "").startswith("/health/ doesn't answer: ")


def test_demo_is_read_from_the_commands_output_and_shown() -> None:
    demo = Demo("/p/1/", "/p/2/", "/t/1/", "/t/2/", "/admin/", "demo", "p w")
    assert read_demo("a warning\n" + json.dumps(asdict(demo)) + "\n") == demo
    shown = banner(demo, base="http://127.0.0.1:8000", seconds=3.2)
    for path in ("/p/1/", "/p/2/", "/t/1/", "/t/2/", "/admin/"):
        assert f" http://127.0.0.1:8000{path}\n" in shown
    assert "密码           p w\n" in shown
    for unusable in ("", "{}", "{no json}"):
        with pytest.raises(LaunchError, match="no usable JSON"):
            read_demo(unusable)


def answer(server: socket.socket, statuses: list[bytes]) -> None:
    for status in statuses:
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")


def descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
