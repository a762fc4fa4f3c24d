"""The rows of one example of the participation machine, read with one statement."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Max

from chat.models import Message
from experiments.models import (
    Allocation,
    Consent,
    Extension,
    Identifier,
    Participant,
    Payment,
    Session,
    WindowMark,
    Withdrawal,
)
from questionnaires.models import Answer, Response


@dataclass
class Rows:
    """The rows of one example, by participant; ``shells`` stand for who was erased. Ids that are
    UUIDs come as texts."""

    people: dict[int, dict[str, Any]]
    shells: dict[int, dict[str, Any]]
    sessions: dict[int, list[dict[str, Any]]]
    messages: dict[str, list[dict[str, Any]]]
    consents: dict[int, dict[str, bool]]
    allocations: dict[int, list[dict[str, Any]]]
    responses: dict[int, list[dict[str, Any]]]
    marks: dict[int, list[dict[str, Any]]]
    extensions: dict[int, list[dict[str, Any]]]
    withdrawals: dict[int, list[dict[str, Any]]]
    identifiers: dict[int, list[str]]
    payments: list[dict[str, Any]]


@dataclass(frozen=True)
class Since:
    """The last rows before an example: what comes later is the example's."""

    participant: int
    payment: int

    @classmethod
    def now(cls) -> Since:
        return cls(_last(Participant), _last(Payment))


def _last(model: Any) -> int:
    return int(model.objects.aggregate(last=Max("pk"))["last"] or 0)


#: What is read of which table, in one statement: after every step twelve would take too long.
_READ: dict[str, tuple[Any, str, str]] = {
    "people": (
        Participant,
        "id AS pk, public_id, code, state, version_id, consented_at, erased_on, anonymised_at,"
        " paused_at",
        "id > %(participant)s",
    ),
    "sessions": (
        Session,
        "id AS pk, participant_id, stage_key, state, number, manipulation, version_id,"
        " started_at, ended_at",
        "participant_id > %(participant)s",
    ),
    "messages": (
        Message,
        "session_id, recorded_at",
        f"session_id IN (SELECT id FROM {Session._meta.db_table}"
        " WHERE participant_id > %(participant)s)",
    ),
    "consents": (Consent, "participant_id, kind, agreed", "participant_id > %(participant)s"),
    "allocations": (Allocation, "participant_id, study_at", "participant_id > %(participant)s"),
    "responses": (
        Response,
        "id AS pk, participant_id, moment, stage_key, position, state, started_at",
        "participant_id > %(participant)s",
    ),
    "answers": (
        Answer,
        "response_id, answered_at",
        f"missing = '' AND response_id IN (SELECT id FROM {Response._meta.db_table}"
        " WHERE participant_id > %(participant)s)",
    ),
    "marks": (
        WindowMark,
        "participant_id, stage_key, lost, at",
        "lifted_by_id IS NULL AND participant_id > %(participant)s",
    ),
    "extensions": (
        Extension, "participant_id, stage_key, until", "participant_id > %(participant)s"
    ),
    "withdrawals": (
        Withdrawal,
        "participant_id, kind, state, requested_at, requested_wall",
        "participant_id > %(participant)s",
    ),
    "identifiers": (Identifier, "participant_id, digest", "participant_id > %(participant)s"),
    "payments": (Payment, "id AS pk, participant_id, code, stage_key", "id > %(payment)s"),
}  # fmt: skip
_TIMES = ("consented_at", "started_at", "ended_at", "recorded_at", "study_at", "answered_at", "at",
          "until", "requested_at", "requested_wall")  # fmt: skip


def _statement() -> str:
    parts = (
        f"'{name}', (SELECT coalesce(json_agg(each), '[]') FROM"
        f" (SELECT {columns} FROM {model._meta.db_table} WHERE {which}) AS each)"
        for name, (model, columns, which) in _READ.items()
    )
    return f"SELECT json_build_object({', '.join(parts)})"


STATEMENT = _statement()


def read(since: Since) -> Rows:
    """Every row of an example. Inside a ``lab_scope``."""
    with connection.cursor() as cursor:
        cursor.execute(STATEMENT, {"participant": since.participant, "payment": since.payment})
        told = cursor.fetchone()[0]
    found = json.loads(told) if isinstance(told, str) else told
    for row in (row for rows in found.values() for row in rows):
        for name in row.keys() & _TIMES:
            row[name] = None if row[name] is None else datetime.fromisoformat(row[name])
    consents: dict[int, dict[str, bool]] = defaultdict(dict)
    for row in found["consents"]:
        consents[row["participant_id"]][row["kind"]] = row["agreed"]
    answers = _grouped(found["answers"], "response_id")
    for row in found["responses"]:
        row["answers"] = [given["answered_at"] for given in answers.get(row["pk"], ())]
    by_person = {
        name: _grouped(found[name], "participant_id")
        for name in ("allocations", "responses", "marks", "extensions", "withdrawals")
    }
    ids = _grouped(found["identifiers"], "participant_id")
    return Rows(
        people={row["pk"]: row for row in found["people"] if row["erased_on"] is None},
        shells={row["pk"]: row for row in found["people"] if row["erased_on"] is not None},
        sessions=_grouped(
            sorted(found["sessions"], key=lambda row: int(row["number"])), "participant_id"
        ),
        messages=_grouped(found["messages"], "session_id"),
        consents=consents,
        identifiers={pk: [row["digest"] for row in rows] for pk, rows in ids.items()},
        payments=found["payments"],
        **by_person,
    )


def _grouped(rows: Iterable[dict[str, Any]], by: str) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row[by]].append(row)
    return found


def tables_with(
    text: str, *, labels: tuple[str, ...] = ("chat", "memory", "questionnaires")
) -> list[str]:
    """Tables of these apps that hold ``text`` anywhere, in whichever column."""
    found = []
    with connection.cursor() as cursor:
        for label in labels:
            for model in apps.get_app_config(label).get_models(include_auto_created=True):
                table = model._meta.db_table
                cursor.execute(
                    f'SELECT count(*) FROM "{table}" AS kept WHERE kept::text LIKE %s',
                    [f"%{text}%"],
                )
                if cursor.fetchone()[0]:
                    found.append(table)
    return found
