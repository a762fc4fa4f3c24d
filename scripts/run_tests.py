"""`make test`: all tests, in parts that run beside each other, each with a database of its own.

Much of a test's time is waiting (for Postgres, leases, processes, a browser), so one part more
runs at a time than there are processors. The longest begin first, and whenever one ends the next
takes its place: the last to end should end together. The browser's tests have to be a part of
their own anyway, for their driver leaves a loop running.

A part costs some ten seconds before its first test (imports, migrations), so they are few. Where
`--durations` shows that one has grown far beyond the others, move a folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import IO

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = "browser"
DATABASE = "MEMLAB_TEST_DATABASE"


@dataclass(frozen=True, slots=True)
class Part:
    """One run of pytest; its ``name`` ends the name of its database."""

    name: str
    paths: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        if self.paths:
            return self.paths
        return ("tests", *(f"--ignore={path}" for part in PARTS for path in part.paths))


#: The longest first. What none of them names is run by the one without paths.
PARTS = (
    Part("rest", ()),
    Part("browser", ("tests/e2e",)),
    Part("research", ("tests/research", "tests/test_make_run.py")),
    Part("chat", ("tests/chat",)),
    Part("pages", ("tests/admin", "tests/questionnaires")),
    Part("processes", ("tests/processes",)),
)
#: How many run at a time.
LANES = (os.cpu_count() or 1) + 1


@dataclass(frozen=True, slots=True)
class Running:
    """``output`` is None for a part that is watched."""

    part: Part
    process: subprocess.Popen[bytes]
    output: IO[bytes] | None
    began: float


def main() -> int:
    """Run every part, also when one fails; returns the exit code."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "memlab.settings.test"}
    browser = find_browser()
    waiting = [part for part in PARTS if part.name != BROWSER or browser is not None]
    driven = {"MEMLAB_CHROMIUM": browser or "", "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
    running: list[Running] = []
    failed = []
    while waiting or running:
        while waiting and len(running) < LANES:
            part = waiting.pop(0)
            own = environment | driven if part.name == BROWSER else environment
            running.append(start(part, own, watched=part is PARTS[0]))
        done = first_done(running)
        running.remove(done)
        if finish(done) != 0:
            failed.append(done.part.name)
    if browser is None:
        print(
            "\nNOT RUN: the browser tests (tests/e2e), because no Chromium was found.\n"
            "Install one (Debian: apt install chromium; Ubuntu, macOS: Chrome or Chromium) or "
            "name it:\nMEMLAB_CHROMIUM=/path/to/chromium make test\n"
        )
        # A person is told; a machine that nobody watches must not pass without them.
        return int(bool(failed) or bool(os.environ.get("CI")))
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return int(bool(failed))


def start(part: Part, environment: dict[str, str], *, watched: bool) -> Running:
    """A part that isn't ``watched`` is told of whole, when it is finished."""
    print(f"$ pytest {' '.join(part.arguments)}{'' if watched else '  (beside)'}", flush=True)
    output = None if watched else tempfile.TemporaryFile()  # noqa: SIM115  # closed by `finish`
    database = f"{environment.get(DATABASE, 'test_memlab')}_{part.name}"
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--durations=8", *part.arguments],
        env={**environment, DATABASE: database},
        stdout=output,
        stderr=None if watched else subprocess.STDOUT,
    )
    return Running(part, process, output, time.monotonic())


def first_done(running: list[Running]) -> Running:
    """Wait until one of them has ended."""
    while True:
        for each in running:
            if each.process.poll() is not None:
                return each
        time.sleep(0.5)


def finish(running: Running) -> int:
    """Wait for a part and tell what it said, if nobody watched it."""
    try:
        code = running.process.wait()
    except KeyboardInterrupt:
        running.process.wait()  # the terminal's Ctrl-C reached it too
        raise
    if running.output is not None:
        running.output.seek(0)
        print(f"\n{running.output.read().decode(errors='replace')}")
        running.output.close()
    print(f"{running.part.name}: {time.monotonic() - running.began:.0f} s\n", flush=True)
    return code


def find_browser() -> str | None:
    """The browser that MEMLAB_CHROMIUM names, or the first known one on the path."""
    if named := os.environ.get("MEMLAB_CHROMIUM"):
        found = shutil.which(named)
        if found is None:
            sys.exit(f"MEMLAB_CHROMIUM is {named!r}, which is no program that can be run.")
        return found
    return next(filter(None, map(shutil.which, BROWSERS)), None)


if __name__ == "__main__":
    sys.exit(main())
