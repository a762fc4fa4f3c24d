"""Rows of many other participants, made where they are stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import connection

from experiments.models import Participant, Study
from memlab.core.tenancy import lab_scope
from memory.models import Episode
from memory.models.base import Memory

SESSION = 50  # episodes that one session leaves behind, stored next to each other


def fill(
    study: Study, model: Participant, rows: int, say: Callable[[str], None]
) -> list[Participant]:
    """Give ``rows`` episodes to other participants of the same lab, who each get a copy of the
    ``model``'s, session by session as weeks of a study would store them; those participants."""
    with lab_scope(study.lab_id):
        ids = list(
            Episode.objects.of_participant(model.pk)
            .order_by("encoded_at")
            .values_list("pk", flat=True)
        )
        others = Participant.objects.bulk_create(
            Participant(study=study, lab_id=study.lab_id) for _ in range(max(1, rows // len(ids)))
        )
    for first in range(0, len(ids), SESSION):
        say(f"recall: others' episodes {first * len(others)} of {len(ids) * len(others)}")
        copy(Episode, study.lab_id, ids[first : first + SESSION], others)
    return others


def copy(
    kind: type[Memory], lab_id: int, memories: Sequence[UUID], others: Sequence[Participant]
) -> None:
    """Give every other participant the same memories, in the order in which they were encoded."""
    table = kind._meta.db_table
    columns = [str(field.column) for field in kind._meta.concrete_fields]
    kept = ", ".join(name for name in columns if name not in ("id", "participant_id"))
    with lab_scope(lab_id), connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {table} (id, participant_id, {kept})
            SELECT gen_random_uuid(), other, {kept}
              FROM unnest(%s::bigint[]) AS other
             CROSS JOIN LATERAL (
                SELECT * FROM {table} WHERE id = ANY(%s) ORDER BY encoded_at
             ) AS memory
            """,
            [[other.pk for other in others], list(memories)],
        )
