"""Which tables of the database may hold something about a participant: read from its catalogue."""

from __future__ import annotations

from django.apps import apps
from django.db import connection

from memlab.core.personal import rules

PARTICIPANT = "experiments_participant"
#: Columns that name a person, or what is theirs, without a foreign key.
NAMES = ("participant", "participant_id", "session_id", "reply_id", "response_id", "message_id")
#: Tables that a path leads from to a participant and that no rule names, each with its reason.
#: What the `subject` of due work is, no path says: it is found by the ids of all rows.
KEPT: dict[str, str] = {}


def unmentioned() -> list[str]:
    """Tables with a path to a participant that no app's rules and no reason names."""
    return sorted(tables_about_participants() - ruled() - set(KEPT))


def ruled() -> set[str]:
    return {apps.get_model(rule.model)._meta.db_table for rule in rules()}


def tables_about_participants() -> set[str]:
    """Whatever refers to a participant, or to what refers to one, and so on; and whatever has a
    column that is called like one."""
    found = {PARTICIPANT, *_named()}
    references = _references()
    while True:
        more = {table for table, target in references if target in found} - found
        if not more:
            return found
        found |= more


def _references() -> list[tuple[str, str]]:
    return _pairs(
        "SELECT DISTINCT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint"
        " WHERE contype = 'f' AND connamespace = 'public'::regnamespace"
    )


def _named() -> set[str]:
    rows = _pairs(
        "SELECT c.relname::text, a.attname::text FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind IN ('r', 'p')"
        " AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped"
    )
    return {table for table, column in rows if column in NAMES}


def _pairs(query: str) -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [(first, second) for first, second in cursor.fetchall()]
