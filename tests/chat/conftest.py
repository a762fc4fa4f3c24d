"""Fixtures of the chat's tests."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.core.management import call_command

from experiments.models import Lab


@pytest.fixture(scope="module")
def kept_rows(django_db_setup: None, django_db_blocker) -> Iterator[None]:
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
