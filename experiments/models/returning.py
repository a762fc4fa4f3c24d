"""How somebody comes back with their code and password, before their lab is known.

Both tables are outside the policies and hold hashes, ids, counts and times only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, models

from memlab.core import sealing

#: Failures within WINDOW after which a code, or an address that tries many, has to wait.
WINDOW = timedelta(minutes=15)
MOST_FOR_A_CODE = 8
MOST_FROM_AN_ADDRESS = 60


def _normalised(code: str) -> str:
    return "".join(code.split()).replace("-", "").upper()


class ReturnKeyManager(models.Manager["ReturnKey"]):
    def remember(self, *, lab_id: int, participant: UUID, code: str) -> None:
        """Let a participant with a password be found by their code. Safe to repeat."""
        self.update_or_create(
            participant=participant,
            defaults={"lab_id": lab_id, "code_digest": _digests(code)[0]},
        )

    def forget(self, participant: UUID) -> None:
        self.filter(participant=participant).delete()

    def candidates(self, code: str) -> list[ReturnKey]:
        """Whose code this is: one, or none; more only if two labs drew the same one."""
        return list(self.filter(code_digest__in=_digests(code)).order_by("pk"))


def _digests(code: str) -> tuple[str, ...]:
    return sealing.digests("return", _normalised(code))


class ReturnKey(models.Model):
    """Directory: the digest of a code leads to the lab and the participant."""

    code_digest = models.CharField(max_length=64, db_index=True)
    lab_id = models.BigIntegerField()
    participant = models.UUIDField(unique=True)

    objects = ReturnKeyManager()

    def __str__(self) -> str:
        return f"return of {self.participant}"


@dataclass(frozen=True, slots=True)
class Bucket:
    """What failures are counted for, and how many of them are let through."""

    key: str
    most: int


def buckets(*, code: str, address: str) -> tuple[Bucket, ...]:
    """A code that is tried is counted whether or not there is one, so that waiting tells
    nothing."""
    return (
        Bucket(sealing.digests("code", _normalised(code))[0], MOST_FOR_A_CODE),
        Bucket(sealing.digests("address", address)[0], MOST_FROM_AN_ADDRESS),
    )


class FailedReturnManager(models.Manager["FailedReturn"]):
    def blocked(self, counted: Sequence[Bucket], *, wall: datetime) -> bool:
        """Whether one of them is full."""
        rows = self.filter(key__in=[bucket.key for bucket in counted], since__gt=wall - WINDOW)
        failures = dict(rows.values_list("key", "failures"))
        return any(failures.get(bucket.key, 0) >= bucket.most for bucket in counted)

    def note(self, counted: Sequence[Bucket], *, wall: datetime) -> None:
        """One more failure, in one statement each, so that none is lost between two requests."""
        with connection.cursor() as cursor:
            for bucket in sorted(counted, key=lambda bucket: bucket.key):
                cursor.execute(
                    "INSERT INTO experiments_failedreturn AS mine (key, failures, since)"
                    " VALUES (%s, 1, %s) ON CONFLICT (key) DO UPDATE SET"
                    " failures = CASE WHEN mine.since > %s THEN mine.failures + 1 ELSE 1 END,"
                    " since = CASE WHEN mine.since > %s THEN mine.since ELSE excluded.since END",
                    [bucket.key, wall, wall - WINDOW, wall - WINDOW],
                )
        self.filter(since__lte=wall - WINDOW).delete()

    def clear(self, counted: Sequence[Bucket]) -> None:
        """Whoever came in by a code has no failures of it; the address keeps its own."""
        self.filter(key=counted[0].key).delete()


class FailedReturn(models.Model):
    """How often a code, or an address, has failed since a moment; or that an address has named a
    recruiter's id, and how many (``memlab.journey.entry.guessing``)."""

    key = models.CharField(max_length=64, unique=True)
    failures = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(db_index=True)

    objects = FailedReturnManager()

    def __str__(self) -> str:
        return f"{self.failures} since {self.since}"
