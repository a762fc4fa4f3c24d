"""One lab for all these tests: each has a participant of its own, and they commit.

Steps of an architecture run on threads with connections of their own, so they see only what is
committed; emptying the database after each of these many small tests would take longer than all
of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from experiments.models import Lab


@pytest.fixture(scope="package")
def lab(django_db_setup: None, django_db_blocker: Any) -> Iterator[Lab]:
    """Alice's lab, committed; the database is emptied after the last of these tests."""
    with django_db_blocker.unblock():
        try:
            yield Lab.objects.found(name="Lab of memory")
        finally:
            call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True)
