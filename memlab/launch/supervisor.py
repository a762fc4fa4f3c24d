"""Starts the parts of Memlab in order, watches them, and stops what it started."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import FrameType

import psutil

from memlab.core.devdb import DevelopmentDatabase
from memlab.launch.errors import LaunchError, StopAskedError
from memlab.launch.part import Part, end_all

STOP_WITHIN_SECONDS = 10.0
LOOK_EVERY_SECONDS = 0.2
NAME_WIDTH = 8

_RUNNING_BEFORE = (
    "was running already and will be left running; stop it with"
    " `.venv/bin/python -m memlab.core.devdb stop`"
)


class Supervisor:
    """The parts that one `make run` started.

    ``database`` is None where the installation brings its own (DATABASE_URL).
    """

    def __init__(self, database: DevelopmentDatabase | None) -> None:
        self._database = database
        self._database_process: psutil.Process | None = None
        self._started_database = False
        self._parts: list[Part] = []
        self._asked_to_stop = threading.Event()

    def obey_signals(self) -> None:
        """Let Ctrl-C, SIGTERM and a closed terminal ask for an orderly stop."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def start_database(self) -> None:
        """Start the embedded database unless it runs or another one is configured."""
        if self._database is None:
            say("database", "DATABASE_URL is set: using that database")
            return
        running_before = self._database.is_running()
        self._database.start()
        self._started_database = not running_before
        self._database_process = psutil.Process(self._database.process_id())
        was = _RUNNING_BEFORE if running_before else "started"
        say("database", f"{was} ({self._database.data_dir})")

    def run_to_end(self, name: str, command: list[str]) -> str:
        """Run one preparing command; returns what it printed, raises when it fails."""
        part = Part(name, command, say=_silence)
        self._parts.append(part)
        while part.exit_code() is None:
            self.pause()
        self._parts.remove(part)
        part.end()
        if part.exit_code() != 0:
            raise LaunchError(_ending(part), remedy="Mend the cause and start again.")
        return "\n".join(part.last_lines)

    def start(self, name: str, command: list[str]) -> None:
        """Start a part that is meant to run until the stop."""
        self._parts.append(Part(name, command, say=say))

    def wait_until(self, trouble: Callable[[], str | None], *, within: float) -> None:
        """Watch the parts until ``trouble`` returns None; raises after ``within`` seconds."""
        deadline = time.monotonic() + within
        while (found := trouble()) is not None:
            if time.monotonic() > deadline:
                raise LaunchError(
                    f"not up after {within:.0f} s: {found}", remedy="The lines above may say why."
                )
            self.watch_once()

    def watch_for_ever(self) -> None:
        """Return only by raising: ``LaunchError`` when a part ends, or ``StopAskedError``."""
        while True:
            self.watch_once()

    def watch_once(self) -> None:
        """Look at every part once, after a short pause."""
        self.pause()
        for part in self._parts:
            if part.exit_code() is not None:
                part.end()  # reads its output to the end
                raise LaunchError(_ending(part), remedy="Everything else is being stopped.")
        if self._database is not None and not self._database_lives():
            log = _quoted(self._database.last_log_lines(10))
            raise LaunchError(
                f"the database ended by itself; the end of its log:\n{log}",
                remedy="Nothing committed is lost: the next `make run` recovers it.",
            )

    def pause(self) -> None:
        """Wait a moment; raises ``StopAskedError`` as soon as a stop is asked for."""
        if self._asked_to_stop.wait(LOOK_EVERY_SECONDS):
            raise StopAskedError

    def stop(self) -> None:
        """Stop every part, then the database, if it was started here and nobody else uses it."""
        if self._parts:
            names = ", ".join(part.name for part in self._parts)
            say("memlab", f"stopping {names} (up to {STOP_WITHIN_SECONDS:.0f} s)")
        end_all(self._parts, within=STOP_WITHIN_SECONDS)
        self._parts.clear()
        if self._database is not None and self._started_database and self._database_lives():
            clients = self._database.stop_when_unused()
            left = f"left running: {clients} other connections use it"
            say("database", left if clients else "stopped")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._asked_to_stop.set()

    def _database_lives(self) -> bool:
        process = self._database_process
        return (
            process is not None
            and process.is_running()
            and process.status() != psutil.STATUS_ZOMBIE
        )


def say(name: str, line: str) -> None:
    """Print one line with the name of the part that it comes from."""
    sys.stdout.write(f"{name:<{NAME_WIDTH}} │ {line}\n")
    sys.stdout.flush()


def _silence(name: str, line: str) -> None:
    """Preparing commands speak only when they fail: their lines are quoted then."""


def _ending(part: Part) -> str:
    code = part.exit_code()
    if code is not None and code < 0:
        how = f"was killed by {signal.Signals(-code).name}"
    else:
        how = f"ended with exit code {code}"
    return f"{part.name} {how}; its last lines:\n{_quoted(part.last_lines)}"


def _quoted(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines) or "    (it printed nothing)"
