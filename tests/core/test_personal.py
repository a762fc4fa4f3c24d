"""Whatever is kept about a participant is known to erasure and to subject access."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.core.personal import KEPT, ruled, tables_about_participants, unmentioned

pytestmark = pytest.mark.django_db


def test_every_table_about_participants_is_ruled_or_kept_for_a_reason() -> None:
    assert unmentioned() == []
    assert all(KEPT.values())


def test_no_rule_and_no_reason_names_a_table_without_participants() -> None:
    assert (ruled() | set(KEPT)) - tables_about_participants() == set()


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE rating (id bigint, participant bigint REFERENCES experiments_participant)",
        "CREATE TABLE rating (id bigint, about uuid REFERENCES chat_reply)",
        "CREATE TABLE rating (id bigint, session_id uuid)",
        "CREATE TABLE rating (id bigint, participant uuid)",
    ],
)
def test_a_new_table_about_participants_that_nobody_mentions_is_found(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(table)
    assert unmentioned() == ["rating"]


def test_a_new_table_about_something_else_is_none() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE rating (id bigint, study bigint REFERENCES experiments_study)")
    assert unmentioned() == []
