"""Where in a whole database a word is: looked for as a role that sees every row."""

from __future__ import annotations

import psycopg
from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection
from django_q.models import OrmQ, Task
from psycopg import sql

from memlab.core.devdb import development_database
from memlab.core.devdb.record import DATABASE

_TEXT = ("text", "varchar", "bpchar", "jsonb", "json", "bytea", "name", "xml", "citext",
         "_text", "_varchar", "uuid", "_uuid")  # fmt: skip


def tables_with(word: str) -> set[str]:
    """``table.column`` of every text, JSON, array and byte column that holds the word."""
    url = development_database().superuser_url().removesuffix(DATABASE)
    name = connection.settings_dict["NAME"]
    with psycopg.connect(f"{url}{name}", autocommit=True) as everything:
        columns = everything.execute(
            "SELECT c.relname, a.attname, t.typname FROM pg_class c"
            " JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid"
            " WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace"
            " AND a.attnum > 0 AND NOT a.attisdropped AND t.typname = ANY(%s)",
            [list(_TEXT)],
        ).fetchall()
        return {f"{t}.{c}" for t, c, kind in columns if _holds(everything, t, c, kind, word)}


def _holds(everything: psycopg.Connection, table: str, column: str, kind: str, word: str) -> bool:
    told = (sql.SQL("encode({}, 'escape')") if kind == "bytea" else sql.SQL("{}::text")).format(
        sql.Identifier(column)
    )
    query = sql.SQL("SELECT 1 FROM {} WHERE position(%s in lower({})) > 0 LIMIT 1").format(
        sql.Identifier(table), told
    )
    return everything.execute(query, [word.lower()]).fetchone() is not None


def packed_with(word: str) -> list[str]:
    """What no column shows: pickled tasks and what came of them, and browsers' sessions."""
    told = [
        *(str(row.task) for row in OrmQ.objects.all()),
        *(f"{row.args} {row.kwargs} {row.result}" for row in Task.objects.all()),
        *(str(row.get_decoded()) for row in BrowserSession.objects.all()),
    ]
    return [text for text in told if word.lower() in text.lower()]
