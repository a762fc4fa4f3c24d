"""What the database itself says about tenancy: read from pg_catalog, not from the models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

LAB = "experiments_lab"

#: Tables without policies, each with every column of it that could hold text. What they hold is
#: ids, times, codes and hashes, or belongs to staff and to no lab. A new text column fails here,
#: and is to be thought about.
WITHOUT_POLICIES: dict[str, set[str]] = {
    # Directories of ours: what must be found before a lab is known.
    "core_due": {"kind"},
    "core_job": {"kind", "state", "failure", "result"},  # codes and counts
    "core_participantlease": set(),
    "experiments_labdirectory": set(),
    "experiments_entrylink": {"token_hash"},
    "experiments_returnkey": {"code_digest"},
    "experiments_failedreturn": {"key"},  # digests of what was tried
    "experiments_member": {"role"},
    # People who sign in: staff, never participants. Edited through their membership only.
    "experiments_user": {"password", "email", "name"},
    # Django's own.
    "django_content_type": {"app_label", "model"},
    "django_migrations": {"app", "name"},
    "django_session": {"session_key", "session_data"},  # the signed-in user's id, the active lab
    "django_admin_log": {"object_id", "object_repr", "change_message"},  # not written: AuditEntry
    "auth_group": {"name"},
    "auth_group_permissions": set(),
    "auth_permission": {"name", "codename"},
    # Failed sign-ins of staff.
    "axes_accessattempt": {
        "user_agent", "username", "http_accept", "path_info", "get_data", "post_data",
    },
    "axes_accessattemptexpiration": set(),
    "axes_accessfailurelog": {"user_agent", "username", "http_accept", "path_info"},
    "axes_accesslog": {"user_agent", "username", "http_accept", "path_info", "session_hash"},
    # The queue: tasks get ids and return counts.
    "django_q_ormq": {"key", "payload"},
    "django_q_schedule": {
        "func", "hook", "args", "kwargs", "schedule_type", "task", "name", "cron", "cluster",
        "intended_date_kwarg",
    },
    "django_q_task": {
        "name", "func", "hook", "args", "kwargs", "result", "id", "group", "cluster",
    },
}  # fmt: skip

_TEXT = ("text", "character varying", "character", "jsonb", "json", "bytea", "xml", "citext")


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    enabled: bool
    forced: bool
    columns: dict[str, tuple[str, bool]]  # name → (type without its length, not null)

    @property
    def lab_column(self) -> str:
        return "id" if self.name == LAB else "lab_id"

    def texts(self) -> set[str]:
        return {name for name, (kind, _) in self.columns.items() if kind in _TEXT}


def findings() -> list[str]:
    """Everything in the public schema that would let one lab see another, in words."""
    tables = _tables()
    return [
        *_bypasses(),
        *(line for table in tables for line in _of_table(table)),
    ]


def _of_table(table: Table) -> Iterator[str]:
    if table.name in WITHOUT_POLICIES:
        yield from _of_listed(table)
    else:
        yield from _isolation(table)
        if table.lab_column in table.columns:
            yield from _keys(table)


def _of_listed(table: Table) -> Iterator[str]:
    known = WITHOUT_POLICIES[table.name]
    for column in sorted(table.texts() - known):
        yield f"{table.name}.{column} holds text without a policy"
    for columns, target in _foreign_keys(table.name):
        if len(columns) == 1 and target[0] not in WITHOUT_POLICIES:
            yield f"{table.name}.{columns[0]} refers to rows of a lab without a policy"


def _isolation(table: Table) -> Iterator[str]:
    kind, not_null = table.columns.get(table.lab_column, ("", False))
    if not kind:
        yield f"{table.name} has no lab_id and is not on the list of tables without one"
        return
    if kind != "bigint" or not not_null:
        yield f"{table.name}.{table.lab_column} must be bigint and NOT NULL"
    if not table.enabled:
        yield f"{table.name} has row-level security disabled"
    if not table.forced:
        yield f"{table.name} doesn't force row-level security on its owner"
    mine = (
        f"({table.lab_column} = "
        "(NULLIF(current_setting('memlab.lab_id'::text, true), ''::text))::bigint)"
    )
    policies = _rows(
        "SELECT polcmd, polpermissive, polroles = '{0}', pg_get_expr(polqual, polrelid),"
        " pg_get_expr(polwithcheck, polrelid) FROM pg_policy WHERE polrelid = %s::regclass",
        table.name,
    )
    if policies != [("*", True, True, mine, mine)]:
        yield f"{table.name} has other policies than the one that every tenant table has"


def _keys(table: Table) -> Iterator[str]:
    uniques = _rows(
        "SELECT i.indisprimary, array(SELECT a.attname::text"
        " FROM unnest(i.indkey) WITH ORDINALITY AS k(number, place)"
        " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place)"
        " FROM pg_index i WHERE i.indrelid = %s::regclass AND i.indisunique",
        table.name,
    )
    primary = next((columns for is_primary, columns in uniques if is_primary), None)
    if primary is None:
        yield f"{table.name} has no primary key"
        return
    if table.name != LAB and ["lab_id", *primary] not in [columns for _, columns in uniques]:
        yield f"{table.name} has no unique (lab_id, {', '.join(primary)})"
    for is_primary, columns in uniques:
        if not is_primary and table.lab_column not in columns:
            yield f"{table.name} is unique on ({', '.join(columns)}) across labs"
    foreign = _foreign_keys(table.name)
    if table.name != LAB and (["lab_id"], (LAB, ["id"])) not in foreign:
        yield f"{table.name}.lab_id refers to no lab"
    for columns, (target, targets) in foreign:
        if target in (LAB, *WITHOUT_POLICIES) or columns[0] == "lab_id":
            continue
        if (["lab_id", *columns], (target, ["lab_id", *targets])) not in foreign:
            yield f"{table.name}.{columns[0]} may refer to a row of another lab"


def _bypasses() -> Iterator[str]:
    """Views and SECURITY DEFINER functions run with their owner's eyes."""
    own = "NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = {}.oid AND d.deptype = 'e')"
    for (name,) in _rows(
        "SELECT c.relname::text FROM pg_class c WHERE c.relkind IN ('v', 'm')"
        f" AND c.relnamespace = 'public'::regnamespace AND {own.format('c')}"
    ):
        yield f"{name} is a view, which is read with its owner's eyes"
    for (name,) in _rows(
        "SELECT p.proname::text FROM pg_proc p WHERE p.prosecdef"
        f" AND p.pronamespace = 'public'::regnamespace AND {own.format('p')}"
    ):
        yield f"{name} is a function that runs as its owner"


def _tables() -> list[Table]:
    rows = _rows(
        "SELECT c.relname::text, c.relrowsecurity, c.relforcerowsecurity,"
        " json_object_agg(a.attname, json_build_array(format_type(a.atttypid, NULL),"
        " a.attnotnull))"
        " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace"
        " AND a.attnum > 0 AND NOT a.attisdropped"
        " GROUP BY c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity ORDER BY 1"
    )
    return [
        Table(name, enabled, forced, {key: (kind, bool(nn)) for key, (kind, nn) in columns.items()})
        for name, enabled, forced, columns in rows
    ]


def _foreign_keys(table: str) -> list[tuple[list[str], tuple[str, list[str]]]]:
    """(columns, (target table, target columns)) of every foreign key of a table."""
    names = (
        "array(SELECT a.attname::text FROM unnest({key}) WITH ORDINALITY AS k(number, place)"
        " JOIN pg_attribute a ON a.attrelid = {of} AND a.attnum = k.number ORDER BY k.place)"
    )
    rows = _rows(
        f"SELECT {names.format(key='c.conkey', of='c.conrelid')},"
        f" (SELECT relname::text FROM pg_class WHERE oid = c.confrelid),"
        f" {names.format(key='c.confkey', of='c.confrelid')}"
        " FROM pg_constraint c WHERE c.contype = 'f' AND c.conrelid = %s::regclass",
        table,
    )
    return [(columns, (target, targets)) for columns, target, targets in rows]


def _rows(query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters or None)
        return cursor.fetchall()
