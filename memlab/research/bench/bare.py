"""The barest thing that could stand in a search's place: the nearest rows of a plain table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from memlab.core.tenancy import lab_scope
from memlab.research.bench.vectors import Vectors
from memory.models.base import Memory
from memory.search import vector_literal

TOP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCopy:
    """The rows of one kind in a table without a row policy, one index on the participant."""

    kind: type[Memory]

    @property
    def table(self) -> str:
        return f"bench_bare_{self.kind._meta.model_name}"

    def nearest(self, participant_id: int, vector: Vectors) -> list[tuple[object, ...]]:
        """What everybody would write first: the nearest five, whatever their age."""
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT id, text, message_ids, stage_key, session_id FROM {self.table}"
                f" WHERE participant_id = %s ORDER BY vector <=> %s::vector LIMIT {TOP}",
                [participant_id, vector_literal(vector)],
            )
            return cursor.fetchall()

    def settle_down(self) -> None:
        """Fresh statistics, as autovacuum would keep them, and none of it while measuring."""
        with connection.cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {self.kind._meta.db_table}, {self.table}")


@contextmanager
def plain_copy(kind: type[Memory], lab_id: int, *, order: str = "id") -> Iterator[PlainCopy]:
    """A copy of all rows of a kind, stored in the ``order`` of a column, and dropped afterwards."""
    copy = PlainCopy(kind=kind)
    original = kind._meta.db_table
    with lab_scope(lab_id), connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {copy.table} (LIKE {original} INCLUDING STORAGE)")
        cursor.execute(f"INSERT INTO {copy.table} SELECT * FROM {original} ORDER BY {order}")
        cursor.execute(f"CREATE INDEX ON {copy.table} (participant_id)")
    try:
        copy.settle_down()
        yield copy
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {copy.table}")
