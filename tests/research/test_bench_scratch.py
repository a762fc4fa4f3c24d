"""The benchmark's own database never costs the application's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection
from psycopg import sql

ROOT = Path(__file__).parents[2]
NAME = f"bench_origin_{os.getpid()}"
SCRATCH = f"{NAME}_bench"


def url(database: str) -> str:
    made = connection.settings_dict
    whom = f"{quote(made['USER'])}:{quote(made['PASSWORD'])}"
    return f"postgresql://{whom}@{made['HOST']}:{made['PORT']}/{database}"


@pytest.fixture
def maintenance() -> Iterator[psycopg.Connection]:
    """Two databases of this test's own: an application's, and its benchmark's left from before."""
    with psycopg.connect(url("postgres"), autocommit=True) as opened:
        for name in (NAME, SCRATCH):
            opened.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield opened
        finally:
            for name in (NAME, SCRATCH):
                opened.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


@pytest.mark.django_db(transaction=True)
def test_a_scratch_database_that_can_not_be_made_leaves_the_applications_alone(
    maintenance: psycopg.Connection,
) -> None:
    with psycopg.connect(url(SCRATCH)):  # in use, so that it can't be replaced
        run = subprocess.run(
            [sys.executable, "manage.py", "bench", "--only=recall", "--quick"],
            cwd=ROOT,
            env={
                **os.environ,
                "DATABASE_URL": url(NAME),
                "DJANGO_SETTINGS_MODULE": "memlab.settings.test",
            },
            capture_output=True,
            text=True,
        )
    assert run.returncode == 2
    assert "is being accessed by other users" in run.stderr
    found = maintenance.execute(
        "SELECT datname FROM pg_database WHERE datname = ANY(%s) ORDER BY 1", [[NAME, SCRATCH]]
    ).fetchall()
    assert found == [(NAME,), (SCRATCH,)]
