"""The migrated database keeps labs apart by itself, and says so in its catalogue."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.core.catalogue import WITHOUT_POLICIES, findings

pytestmark = pytest.mark.django_db

MINE = "lab_id = nullif(current_setting('memlab.lab_id', true), '')::bigint"
SECURED = f"""
    ALTER TABLE rating ENABLE ROW LEVEL SECURITY;
    ALTER TABLE rating FORCE ROW LEVEL SECURITY;
    CREATE POLICY lab_isolation ON rating USING ({MINE}) WITH CHECK ({MINE});
"""
TABLE = """
    CREATE TABLE rating (
        id bigint PRIMARY KEY,
        lab_id bigint NOT NULL REFERENCES experiments_lab (id),
        study_id bigint NOT NULL REFERENCES experiments_study (id),
        score text NOT NULL,
        UNIQUE (lab_id, id),
        FOREIGN KEY (lab_id, study_id) REFERENCES experiments_study (lab_id, id)
    );
"""


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_every_table_keeps_its_labs_apart_or_is_on_the_list() -> None:
    assert findings() == []


def test_the_list_names_no_table_that_is_gone() -> None:
    assert set(WITHOUT_POLICIES) <= set(connection.introspection.table_names())


def test_the_application_is_no_superuser_and_bound_by_policies() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles"
            " WHERE rolname = current_user"
        )
        assert cursor.fetchone() == (False, False, False)


def test_a_table_as_it_should_be_is_no_finding() -> None:
    run(TABLE + SECURED)
    assert findings() == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "CREATE TABLE rating (id bigint PRIMARY KEY, score text)",
            ["rating has no lab_id and is not on the list of tables without one"],
        ),
        (
            TABLE,
            [
                "rating has row-level security disabled",
                "rating doesn't force row-level security on its owner",
                "rating has other policies than the one that every tenant table has",
            ],
        ),
        (
            TABLE + SECURED + "ALTER TABLE rating NO FORCE ROW LEVEL SECURITY",
            ["rating doesn't force row-level security on its owner"],
        ),
        (
            TABLE + SECURED + "CREATE POLICY wide ON rating USING (true)",
            ["rating has other policies than the one that every tenant table has"],
        ),
        (
            TABLE + SECURED + f"ALTER POLICY lab_isolation ON rating WITH CHECK ({MINE} OR true)",
            ["rating has other policies than the one that every tenant table has"],
        ),
        (
            TABLE + SECURED + "ALTER TABLE rating ALTER lab_id DROP NOT NULL",
            ["rating.lab_id must be bigint and NOT NULL"],
        ),
        (
            TABLE.replace("UNIQUE (lab_id, id),", "") + SECURED,
            ["rating has no unique (lab_id, id)"],
        ),
        (
            TABLE + SECURED + "CREATE UNIQUE INDEX ON rating (score) WHERE score <> ''",
            ["rating is unique on (score) across labs"],
        ),
        (
            TABLE.replace(
                "FOREIGN KEY (lab_id, study_id) REFERENCES experiments_study (lab_id, id)",
                "CHECK (true)",
            )
            + SECURED,
            ["rating.study_id may refer to a row of another lab"],
        ),
        (
            TABLE.replace(" REFERENCES experiments_lab (id)", "") + SECURED,
            ["rating.lab_id refers to no lab"],
        ),
        ("ALTER TABLE core_due ADD note text", ["core_due.note holds text without a policy"]),
        (
            "ALTER TABLE core_due ADD study_id bigint REFERENCES experiments_study (id)",
            ["core_due.study_id refers to rows of a lab without a policy"],
        ),
        (
            "CREATE VIEW every_study AS SELECT * FROM experiments_study",
            ["every_study is a view, which is read with its owner's eyes"],
        ),
        (
            "CREATE FUNCTION peep() RETURNS bigint LANGUAGE sql SECURITY DEFINER"
            " AS 'SELECT count(*) FROM experiments_study'",
            ["peep is a function that runs as its owner"],
        ),
    ],
)
def test_an_offending_table_is_found(sql: str, expected: list[str]) -> None:
    run(sql)
    assert findings() == expected
