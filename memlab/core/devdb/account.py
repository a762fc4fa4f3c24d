"""The operating-system account the server runs as: PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memlab.core.devdb.errors import DatabaseLaunchError

UNPRIVILEGED_ACCOUNTS = ("postgres", "nobody")

# Nothing of the caller's PGHOST, PGPORT, PGDATA or locale may reach the server; messages stay
# English so that they can be searched for.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Account:
    """An ordinary account to drop to; its ids are passed to every process we start."""

    name: str
    uid: int
    gid: int


def account_to_drop_to() -> Account | None:
    """The account for the server, or None when the caller isn't root and nothing is dropped."""
    if os.geteuid() != 0:
        return None
    for name in UNPRIVILEGED_ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise DatabaseLaunchError(
        "PostgreSQL refuses to run as root and this machine has no ordinary account for it",
        where=f"looked for {', '.join(UNPRIVILEGED_ACCOUNTS)}",
        remedy="Create one (useradd --system postgres) or start Memlab as an ordinary user.",
    )


def owner_of(path: Path) -> Account:
    """The account that ``path`` belongs to."""
    status = path.stat()
    try:
        name = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        name = str(status.st_uid)
    return Account(name=name, uid=status.st_uid, gid=status.st_gid)


def run_as(
    account: Account | None, command: Sequence[str | Path], *, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run ``command`` as ``account`` and return its exit code and output.

    Raises OSError when the account can't execute the program, and ``DatabaseLaunchError`` when
    it isn't done after ``timeout`` seconds.
    """
    try:
        return subprocess.run(
            [str(part) for part in command],
            # The account may not be able to enter the caller's folder.
            cwd="/",
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            umask=0o077,
            # Ctrl-C in the caller's terminal must not cut a start or a stop in half.
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    except subprocess.TimeoutExpired as error:
        raise DatabaseLaunchError(
            f"{Path(command[0]).name} wasn't done after {timeout:.0f} s",
            where=command[0],
            remedy="See whether the disk is full or very busy, then start again.",
        ) from error


def may_enter(account: Account | None, folder: Path) -> bool:
    """Whether ``account`` reaches ``folder``; asked of the system, which also knows about ACLs."""
    if account is None:
        return True
    return run_as(account, ["/bin/sh", "-c", 'cd "$1"', "sh", folder]).returncode == 0


def give(account: Account | None, path: Path) -> None:
    """Make ``account`` the owner of ``path`` (no-op when the caller isn't root)."""
    if account is not None:
        os.chown(path, account.uid, account.gid)


def make_enterable(folder: Path) -> None:
    """Make ``folder`` and let every account pass through it, whatever the caller's umask."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
