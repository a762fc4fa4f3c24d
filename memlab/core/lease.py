"""One writer at a time for a participant's memory: a turn, or the steps between turns."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import connection, models

LEASE = timedelta(seconds=20)


class ParticipantLeaseQuerySet(models.QuerySet["ParticipantLease"]):
    def acquire(self, *, lab_id: int, participant: UUID, wall: datetime) -> UUID | None:
        """A holder's token, or None while somebody else's lease is alive."""
        holder = uuid4()
        with connection.cursor() as cursor:
            cursor.execute(
                """
                INSERT INTO core_participantlease (participant, lab_id, holder, until)
                VALUES (%(participant)s, %(lab_id)s, %(holder)s, %(until)s)
                ON CONFLICT (participant) DO UPDATE
                   SET holder = excluded.holder, until = excluded.until
                 WHERE core_participantlease.until <= %(wall)s
                """,
                {
                    "participant": participant,
                    "lab_id": lab_id,
                    "holder": holder,
                    "until": wall + LEASE,
                    "wall": wall,
                },
            )
            return holder if cursor.rowcount == 1 else None

    def renew(self, *, participant: UUID, holder: UUID, wall: datetime) -> bool:
        """Hold on for another LEASE. False if somebody else took over: stop writing."""
        mine = self.filter(participant=participant, holder=holder)
        return mine.update(until=wall + LEASE) == 1

    def release(self, *, participant: UUID, holder: UUID) -> None:
        self.filter(participant=participant, holder=holder).delete()

    def still_held(self, *, participant: UUID, holder: UUID) -> bool:
        """For a write transaction: locks the lease until it commits."""
        return self.filter(participant=participant, holder=holder).select_for_update().exists()


class ParticipantLease(models.Model):
    participant = models.UUIDField(primary_key=True)
    lab_id = models.BigIntegerField()
    holder = models.UUIDField()
    until = models.DateTimeField(help_text="Wall time after which anybody may take over.")

    objects = ParticipantLeaseQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.participant} until {self.until}"
