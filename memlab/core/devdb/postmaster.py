"""One PostgreSQL server process: initialise its files, launch it, ask for it, stop it."""

import secrets
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from memlab.core.devdb.account import Account, give, run_as
from memlab.core.devdb.errors import DatabaseLaunchError
from memlab.core.devdb.record import APP_ROLE, HOST, SUPERUSER, ServerRecord

READY_WITHIN_SECONDS = 60
MAX_CONNECTIONS = 200

# The application's role needs no password on the loopback address of a development machine;
# the superuser, who could run programs through the server, does.
_ACCESS_RULES = f"""\
host all {APP_ROLE} {HOST}/32 trust
host all all {HOST}/32 scram-sha-256
"""

_THROWAWAY_SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class PortTakenError(Exception):
    """Another program got the port between our look and the server's start."""


@dataclass(frozen=True)
class Postmaster:
    """The server of ``record``, run by ``account`` (None: the caller) from ``binaries``."""

    record: ServerRecord
    binaries: Path
    account: Account | None

    def initialise(self, *, durable: bool) -> None:
        """Make the cluster unless it is there; an interrupted attempt is thrown away."""
        if self.record.cluster.exists():
            return
        partial = self.record.store / "cluster.partial"
        if partial.exists():
            shutil.rmtree(partial)
        self._write_password()
        done = run_as(
            self.account,
            [
                self.binaries / "initdb",
                f"--pgdata={partial}",
                f"--username={SUPERUSER}",
                f"--pwfile={self.record.password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                # The built-in provider sorts alike on every machine, whatever locales it has.
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--no-locale",
                *([] if durable else ["--no-sync"]),
            ],
        )
        if done.returncode != 0:
            raise DatabaseLaunchError(
                f"initdb failed with exit code {done.returncode}: {_tail(done.stderr)}",
                where=partial,
                remedy="Free disk space or mend the folder's permissions, then start again.",
            )
        (partial / "pg_hba.conf").write_text(_ACCESS_RULES)
        partial.rename(self.record.cluster)

    def launch(self, *, durable: bool) -> None:
        """Start the server and return when it accepts connections."""
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        while True:
            self._clear_stale_pid_file()
            written = self._log_size()
            done = self._pg_ctl("start", f"--log={self.record.log}", self._options(durable))
            if done.returncode == 0 and self.is_ready():
                return
            log = self._log_since(written)
            if "could not bind" in log:
                raise PortTakenError(self.record.port)
            # After kill -9 the old server's children need a moment to notice and leave.
            lingering = "pre-existing shared memory block" in log or "lock file" in log
            if not lingering or time.monotonic() > deadline:
                raise DatabaseLaunchError(
                    f"PostgreSQL didn't start: {_tail(log or done.stderr or done.stdout)}",
                    where=self.record.log,
                    remedy="Its log says why; the data were left as they are.",
                )
            time.sleep(0.2)

    def halt(self, mode: Literal["fast", "immediate"]) -> None:
        """Stop the server: ``fast`` writes a checkpoint, ``immediate`` recovers at next start."""
        if self.pid() is None:
            return
        done = self._pg_ctl("stop", f"--mode={mode}")
        if done.returncode != 0 and self.pid() is not None:
            raise DatabaseLaunchError(
                f"PostgreSQL didn't stop: {_tail(done.stderr or done.stdout)}",
                where=self.record.cluster,
                remedy="See its log; `python -m memlab.core.devdb kill` stops it at once.",
            )

    def is_ready(self) -> bool:
        """Whether our server runs and accepts connections."""
        if self.pid() is None:
            return False
        where = [f"--host={HOST}", f"--port={self.record.port}", "--timeout=3"]
        return run_as(self.account, [self.binaries / "pg_isready", *where]).returncode == 0

    def wait_while_starting(self) -> bool:
        """Wait for a server that runs but doesn't answer yet; whether it is ready in the end."""
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        while self.pid() is not None:
            if self.is_ready():
                return True
            if time.monotonic() > deadline:
                raise DatabaseLaunchError(
                    f"PostgreSQL (process {self.pid()}) runs but doesn't answer",
                    where=self.record.log,
                    remedy="`python -m memlab.core.devdb kill`, then start again.",
                )
            time.sleep(0.1)
        return False

    def pid(self) -> int | None:
        """The server's process id, or None; a number that another program has now is not it."""
        pid = self._pid_in_file()
        if pid is None:
            return None
        try:
            return pid if str(self.record.cluster) in psutil.Process(pid).cmdline() else None
        except psutil.Error:
            return None

    def _pid_in_file(self) -> int | None:
        try:
            return int((self.record.cluster / "postmaster.pid").read_text().split("\n")[0])
        except (FileNotFoundError, ValueError):
            return None

    def _clear_stale_pid_file(self) -> None:
        """Remove the file that a killed server left when its number belongs to a stranger now.

        PostgreSQL itself takes over from a dead process, but can't tell a stranger's from its
        own. The file stays as long as any process still works in the cluster.
        """
        pid = self._pid_in_file()
        if pid is None or not psutil.pid_exists(pid) or self.pid() is not None:
            return
        folders = {process.info["cwd"] for process in psutil.process_iter(["cwd"])}
        if str(self.record.cluster) not in folders:
            (self.record.cluster / "postmaster.pid").unlink(missing_ok=True)

    def _pg_ctl(self, action: str, *options: str) -> subprocess.CompletedProcess[str]:
        return run_as(
            self.account,
            [
                self.binaries / "pg_ctl",
                action,
                f"--pgdata={self.record.cluster}",
                "--wait",
                f"--timeout={READY_WITHIN_SECONDS}",
                *options,
            ],
        )

    def _options(self, durable: bool) -> str:
        settings = [
            f"listen_addresses={HOST}",
            f"port={self.record.port}",
            # Their paths have a limit of about 100 characters that a deep checkout breaks.
            "unix_socket_directories=",
            f"max_connections={MAX_CONNECTIONS}",
            "timezone=UTC",
            "log_timezone=UTC",
            # For disks without a moving arm. The default of 4 makes the planner read a whole
            # table of memories where the index would skip what is forgotten.
            "random_page_cost=1.1",
        ]
        if not durable:
            settings.extend(_THROWAWAY_SETTINGS)
        return "--options=" + " ".join(f"-c {setting}" for setting in settings)

    def _write_password(self) -> None:
        path = self.record.password_file
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(24) + "\n")
        give(self.account, path)

    def _log_size(self) -> int:
        return self.record.log.stat().st_size if self.record.log.exists() else 0

    def _log_since(self, offset: int) -> str:
        if not self.record.log.exists():
            return ""
        return self.record.log.read_bytes()[offset:].decode(errors="replace")


def _tail(text: str, lines: int = 6) -> str:
    return " | ".join(text.strip().splitlines()[-lines:])
