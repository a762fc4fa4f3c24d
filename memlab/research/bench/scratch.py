"""A database of its own for each run, made and dropped by the application's role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from django.conf import settings
from django.db import connection


@contextmanager
def scratch_database() -> Iterator[None]:
    """Within it Django's default connection leads to a fresh, migrated database.

    It bears one fixed name: what a killed run left behind is replaced by the next one. The role
    that measures owns it and is bound by its row policies, as everywhere.
    """
    original = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = f"{original}_bench"
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        yield
    finally:
        if connection.settings_dict["NAME"] != original:  # else none was made: that one is not ours
            connection.creation.destroy_test_db(original, verbosity=0)


@contextmanager
def pooled() -> Iterator[None]:
    """Within it connections are kept, as web processes keep them; without, each unit of database
    work makes one of its own."""
    options = connection.settings_dict["OPTIONS"]
    connection.close()
    options["pool"] = {"min_size": 1, "max_size": settings.DATABASE_THREADS + 1}
    try:
        yield
    finally:
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]
        del options["pool"]


def database_url() -> str:
    """The address of Django's default connection, for a process of its own."""
    made = connection.settings_dict
    password = f":{quote(made['PASSWORD'], safe='')}" if made["PASSWORD"] else ""
    user, name = quote(made["USER"]), quote(made["NAME"])
    return f"postgresql://{user}{password}@{made['HOST']}:{made['PORT']}/{name}"
