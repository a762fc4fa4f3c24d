"""What only the superuser may do: roles, extension, database, and seeing who is connected."""

from typing import LiteralString

import psycopg
from psycopg import sql

from memlab.core.devdb.record import APP_ROLE, DATABASE, ServerRecord


def provision(record: ServerRecord) -> None:
    """Create what the application needs, as far as it is missing; safe to repeat.

    The extension goes into template1 too: the application's role isn't trusted to create it,
    yet its test databases need it.
    """
    with _connect(record, "template1") as template:
        _create_app_role(template)
        template.execute("CREATE EXTENSION IF NOT EXISTS vector")
    with _connect(record, "postgres") as maintenance:
        if not _exists(maintenance, "SELECT 1 FROM pg_database WHERE datname = %s", DATABASE):
            maintenance.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(
                    sql.Identifier(DATABASE), sql.Identifier(APP_ROLE)
                )
            )
    with _connect(record, DATABASE) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")


def count_clients(record: ServerRecord) -> int:
    """How many connections other than this question's own are open."""
    with _connect(record, "postgres") as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone()
    return int(row[0]) if row else 0


def _create_app_role(connection: psycopg.Connection) -> None:
    role = sql.Identifier(APP_ROLE)
    if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", APP_ROLE):
        connection.execute(sql.SQL("CREATE ROLE {}").format(role))
    connection.execute(
        sql.SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS CREATEDB NOCREATEROLE").format(role)
    )


def _exists(connection: psycopg.Connection, query: LiteralString, name: str) -> bool:
    return connection.execute(query, (name,)).fetchone() is not None


def _connect(record: ServerRecord, database: str) -> psycopg.Connection:
    url = record.superuser_url.removesuffix(f"/{DATABASE}") + f"/{database}"
    return psycopg.connect(url, autocommit=True, connect_timeout=10)
