"""`make test`: all tests, in processes of their own that run beside each other.

Much of a test's time is waiting (for leases, processes, a browser), so two parts at a time take
little more than half as long. The browser's part has to be a process of its own anyway, for its
driver leaves a loop running: it follows whichever of the two ends first. Each has its own database.
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
#: What the first part runs; the second runs everything else but the browser's tests.
WAITING = ("tests/chat", "tests/processes")
E2E = "tests/e2e"
DATABASE = "MEMLAB_TEST_DATABASE"


@dataclass(frozen=True, slots=True)
class Part:
    """One run of pytest; its ``name`` ends the name of its database."""

    name: str
    arguments: tuple[str, ...]


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
    ignored = [f"--ignore={path}" for path in (*WAITING, E2E)]
    browser = find_browser()
    running = [
        start(Part("others", ("tests", *ignored)), environment, watched=False),
        start(Part("waiting", WAITING), environment),
    ]
    failed, browser_to_start = [], browser
    while running:
        done = first_done(running)
        running.remove(done)
        if finish(done) != 0:
            failed.append(done.part.name)
        if browser_to_start is not None:
            driven = {"MEMLAB_CHROMIUM": browser_to_start, "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
            running.append(start(Part("browser", (E2E,)), environment | driven, watched=False))
            browser_to_start = None
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


def start(part: Part, environment: dict[str, str], *, watched: bool = True) -> Running:
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
