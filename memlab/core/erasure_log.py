"""The log of erasures, a file outside of the database: whom a restored backup must lose again.

One JSON object a line, only ever appended. A person is a keyed hash of their id, so the file says
nothing to whoever lacks the installation's ``SECRET_KEY``; after a change of that key the old one
belongs into ``SECRET_KEY_FALLBACKS``, or older lines can't be matched any more.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

SALT = "memlab.erasure_log"
NAME = "erasures.jsonl"


class ErasureLogError(RuntimeError):
    """The log can't be written or read; says where, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One erasure or anonymisation. ``at`` is ISO 8601, UTC; ``receipt`` the hash of its code.

    Whoever was anonymised had another id before: ``follows`` is the receipt of that line, so that
    a backup from before both finds how far they went in the end.
    """

    at: str
    kind: str
    lab: int
    person: str
    receipt: str
    counts: dict[str, int]
    sha256: str
    follows: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Whole lines, oldest first, and the numbers of those that can't be read."""

    lines: tuple[Line, ...]
    broken: tuple[int, ...]


def person_hash(public_id: UUID) -> str:
    """How the log names a person, under the present key."""
    return _hash(public_id, settings.SECRET_KEY)


def person_hashes(public_id: UUID) -> list[str]:
    """How lines of any age may name a person."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [_hash(public_id, key) for key in keys]


def _hash(public_id: UUID, key: str | bytes) -> str:
    return salted_hmac(SALT, str(public_id), secret=key, algorithm="sha256").hexdigest()


def append(line: Line) -> None:
    """Write a line to the disk, unless one with its receipt is there. Raises ErasureLogError.

    A process that dies while it writes leaves half a line, which the next one closes off: its
    erasure didn't commit, and writes its line again.
    """
    try:
        path = _path()
        with path.open("a+b") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            log.seek(0)
            written = log.read()
            if line.receipt in {each.receipt for each in _read(written).lines}:
                return
            if written and not written.endswith(b"\n"):
                log.write(b"\n")
            log.write(json.dumps(asdict(line), sort_keys=True).encode() + b"\n")
            log.flush()
            os.fsync(log.fileno())
    except OSError as error:
        raise ErasureLogError(
            f"The log of erasures in {settings.ERASURE_LOG} can't be written: {error.strerror}. "
            "Nothing has been erased. Set MEMLAB_ERASURE_LOG to a folder that this process may "
            "write to; the erasure is tried again by itself."
        ) from None


def writable() -> bool:
    """Whether an erasure could write its line now."""
    try:
        with _path().open("ab"):
            return True
    except OSError:
        return False


def read(path: Path | None = None) -> Log:
    """This installation's log, or the file that is given. Raises ErasureLogError."""
    path = path or settings.ERASURE_LOG / NAME
    try:
        return _read(path.read_bytes())
    except OSError as error:
        raise ErasureLogError(
            f"The log of erasures {path} can't be read: {error.strerror}. Bring it back from its "
            "backup, or name it with --log."
        ) from None


def _read(written: bytes) -> Log:
    lines, broken = [], []
    for number, text in enumerate(written.splitlines(), start=1):
        try:
            lines.append(Line(**json.loads(text)))
        except (ValueError, TypeError):
            broken.append(number)
    return Log(lines=tuple(lines), broken=tuple(broken))


def _path() -> Path:
    folder: Path = settings.ERASURE_LOG
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / NAME
