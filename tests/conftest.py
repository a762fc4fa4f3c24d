"""Fixtures that every part of the tests may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test.utils import setup_databases, teardown_databases

from experiments.models import Lab

pytest_plugins = ["tests.standin.plugin"]


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
    yield
    if not django_db_keepdb:
        with django_db_blocker.unblock():
            teardown_databases(made, verbosity=0)


@pytest.fixture
def lab(db: None) -> Lab:
    """Alice's lab."""
    return Lab.objects.found(name="Lab of memory")


@pytest.fixture
def other_lab(db: None) -> Lab:
    """Charlie's lab, which must never show up in Alice's."""
    return Lab.objects.found(name="Lab of elsewhere")
