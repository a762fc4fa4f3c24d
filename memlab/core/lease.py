"""One writer at a time for a participant's memory: a turn, or the steps between turns."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, models

LEASE = timedelta(seconds=20)


# In SQL, for every turn does this, and the ORM takes longer than the database.
_TAKE = """
    INSERT INTO core_participantlease (participant, lab_id, holder, until)
    SELECT %(participant)s, %(lab_id)s, %(holder)s, %(until)s WHERE {condition}
    ON CONFLICT (participant) DO UPDATE SET holder = excluded.holder, until = excluded.until
     WHERE core_participantlease.until <= %(wall)s
"""
_AT_REST = """
    NOT EXISTS (SELECT FROM core_job
                 WHERE participant = %(participant)s AND state = 'pending')
    AND NOT EXISTS (SELECT FROM core_due
                     WHERE kind = 'maintain' AND subject = %(participant)s
                       AND study_at <= %(maintained)s)
"""


class ParticipantLeaseQuerySet(models.QuerySet["ParticipantLease"]):
    def acquire(self, *, lab_id: int, participant: UUID, wall: datetime) -> UUID | None:
        """A holder's token, or None while somebody else's lease is alive."""
        return self._take("true", lab_id=lab_id, participant=participant, wall=wall)

    def acquire_at_rest(
        self, *, lab_id: int, participant: UUID, wall: datetime, maintained: datetime | None
    ) -> UUID | None:
        """As ``acquire``, if this memory has nothing to do first: no step is pending, and no
        maintenance is due by ``maintained`` (study time; None: it needs none). One statement, for
        what is pending and what is due change together."""
        return self._take(
            _AT_REST, lab_id=lab_id, participant=participant, wall=wall, maintained=maintained
        )

    def _take(self, condition: str, *, wall: datetime, **named: Any) -> UUID | None:
        holder = uuid4()
        with connection.cursor() as cursor:
            cursor.execute(
                _TAKE.format(condition=condition),
                {"holder": holder, "until": wall + LEASE, "wall": wall, **named},
            )
            return holder if cursor.rowcount == 1 else None

    def renew(self, *, participant: UUID, holder: UUID, wall: datetime) -> bool:
        """Hold on for another LEASE. False if somebody else took over: stop writing."""
        mine = self.filter(participant=participant, holder=holder)
        return mine.update(until=wall + LEASE) == 1

    def release(self, *, participant: UUID, holder: UUID) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM core_participantlease WHERE participant = %s AND holder = %s",
                [participant, holder],
            )

    def still_held(self, *, participant: UUID, holder: UUID) -> bool:
        """For a write transaction: locks the lease until it commits."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT FROM core_participantlease WHERE participant = %s AND holder = %s"
                " FOR UPDATE",
                [participant, holder],
            )
            return cursor.rowcount == 1


class ParticipantLease(models.Model):
    participant = models.UUIDField(primary_key=True)
    lab_id = models.BigIntegerField()
    holder = models.UUIDField()
    until = models.DateTimeField(help_text="Wall time after which anybody may take over.")

    objects = ParticipantLeaseQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.participant} until {self.until}"
