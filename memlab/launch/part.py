"""One running part of Memlab: its process, its tagged output, its end."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
KEPT_LINES = 20


class Part:
    """A command on a leash, in a process group of its own; its lines go to ``say``."""

    def __init__(
        self, name: str, command: Sequence[str], *, say: Callable[[str, str], None]
    ) -> None:
        self.name = name
        self.last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._say = say
        self._process = subprocess.Popen(
            [sys.executable, "-m", "memlab.launch.leash", *command],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Of its own, so that Ctrl-C in the terminal reaches the supervisor alone.
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def exit_code(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs."""
        code = self._process.poll()
        return 128 - code if code is not None and code > 128 else code

    def ask_to_stop(self) -> None:
        """Ask for an orderly end; returns at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within ``seconds``."""
        try:
            self._process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """End what is left of its process group at once."""
        with contextlib.suppress(ProcessLookupError):  # all of it had ended
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(timeout=2)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        for raw in self._process.stdout or ():
            line = raw.decode(errors="replace").rstrip("\n")
            self.last_lines.append(line)
            self._say(self.name, line)


def end_all(parts: Sequence[Part], *, within: float) -> None:
    """Stop ``parts`` in order within so many seconds together, then by force."""
    for part in parts:
        part.ask_to_stop()
    deadline = time.monotonic() + within
    for part in parts:
        part.wait(deadline - time.monotonic())
        part.end()
