"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import setup_databases, teardown_databases

from experiments.models import Lab

pytest_plugins = ["tests.standin.plugin"]

#: Connections at once: more than any test has threads.
POOL = 40


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays for the whole run: Django, the SDKs and the tests are
    a million objects, through which it would walk again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: Any,
    django_db_keepdb: bool,
    django_db_createdb: bool,
) -> Iterator[None]:
    """The test database, whoever asks for it.

    The plug-in's own fixture makes none when all collected tests commit by themselves: they would
    write into the development database, and empty it.
    """
    with django_db_blocker.unblock():
        made = setup_databases(
            verbosity=0,
            interactive=False,
            keepdb=django_db_keepdb and not django_db_createdb,
            serialized_aliases=(),
        )
        _fill_pool()
    yield
    with django_db_blocker.unblock():
        _drain_pool()
        if not django_db_keepdb:
            _hang_up()
            teardown_databases(made, verbosity=0)


def _fill_pool() -> None:
    """Keep connections between units of work, as web processes do: a fresh one has to read the
    catalogue with all its policies anew, which takes longer than most units. A process that a
    test starts has the pool of its own settings, or none."""
    connection.close()
    connection.settings_dict["OPTIONS"]["pool"] = {"min_size": 0, "max_size": POOL}


def _drain_pool() -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    del connection.settings_dict["OPTIONS"]["pool"]


@pytest.fixture
def unpooled(django_db_setup: None) -> Iterator[None]:
    """For what brings a pool or another database of its own, or is about having none."""
    _drain_pool()
    yield
    _fill_pool()


def _hang_up() -> None:
    """End whatever a process or a thread of some test has left connected: it keeps the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND usename = current_user"
        )


@pytest.fixture
def lab(db: None) -> Lab:
    """Alice's lab."""
    return Lab.objects.found(name="Lab of memory")


@pytest.fixture
def other_lab(db: None) -> Lab:
    """Charlie's lab, which must never show up in Alice's."""
    return Lab.objects.found(name="Lab of elsewhere")


@pytest.fixture(scope="module")
def kept_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A module's tests commit into one database, which is emptied once at the end.

    For tests of many threads, where emptying it after each would take longer than the test: every
    test founds labs of its own (``own_lab``), and labs don't see each other.
    """
    with django_db_blocker.unblock():
        yield
        call_command("flush", verbosity=0, interactive=False)


@pytest.fixture
def own_lab(kept_rows: None) -> Lab:
    return Lab.objects.found(name=f"Lab {uuid4().hex[:8]}")
