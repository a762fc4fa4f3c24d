"""A lock between processes: two starts at once must make one server."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memlab.core.devdb.errors import DatabaseLaunchError

PATIENCE_SECONDS = 180.0


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; the system releases it when its holder dies."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with path.open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise DatabaseLaunchError(
                        f"another start or stop has held the lock for {PATIENCE_SECONDS:.0f} s",
                        where=path,
                        remedy="Look for a hanging `memlab.core.devdb` process and end it.",
                    ) from None
                time.sleep(0.05)
        yield
