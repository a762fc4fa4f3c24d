"""Erasing: what may remove rows of logs that are only ever appended to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import IntegrityError, OperationalError, connection
from psycopg.errors import DeadlockDetected, ForeignKeyViolation

ATTEMPTS = 5

Result = TypeVar("Result")


@contextmanager
def purging() -> Iterator[None]:
    """Let append-only tables give way, inside a transaction and until the body ends. A rollback
    takes the permission back by itself."""
    _set_local("on")
    yield
    _set_local("off")


def _set_local(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memlab.purge', %s, true)", [value])


def check_references() -> None:
    """Have Postgres look at every foreign key now and not at the commit: whatever still refers to
    rows that are gone raises IntegrityError here."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def until_undisturbed(erase: Callable[[], Result]) -> Result:
    """Try an erasure, which is one transaction, again when others were at the same rows.

    Where its locks and theirs cross, Postgres ends one of the two; where they have written rows
    meanwhile that refer to the erased ones, nothing is erased, and the next try finds those too.
    """
    for _attempt in range(ATTEMPTS - 1):
        try:
            return erase()
        except (OperationalError, IntegrityError) as error:
            if not isinstance(error.__cause__, (DeadlockDetected, ForeignKeyViolation)):
                raise
    return erase()
