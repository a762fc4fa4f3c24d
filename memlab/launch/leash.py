"""Runs one command and ends it when whoever started it is gone, however that happened.

``python -m memlab.launch.leash COMMAND…``: standard input is a pipe that the supervisor holds
open and never writes to; the system closes it even on kill -9. Own process, not a thread of the
command's, because the task cluster forks.
"""

import os
import signal
import subprocess
import sys
import threading
import time

GRACE_SECONDS = 10.0


def main(command: list[str]) -> int:
    """Run ``command`` to its end; returns its exit code as a shell would (128 + signal)."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    # SIGTERM goes to the command alone: a cluster's workers are its own to stop. Ctrl-C doesn't
    # reach this process group.
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    alone = threading.Event()
    threading.Thread(target=_follow_the_supervisor, args=(child, alone), daemon=True).start()
    code = child.wait()
    if alone.is_set():
        _end_group()
    return code if code >= 0 else 128 - code


def _follow_the_supervisor(child: subprocess.Popen[bytes], alone: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 1):
        continue
    alone.set()
    child.terminate()
    time.sleep(GRACE_SECONDS)
    _end_group()


def _end_group() -> None:
    """End the whole group, this process included: a killed cluster leaves its workers behind."""
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
