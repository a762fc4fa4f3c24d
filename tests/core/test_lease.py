"""A turn takes its participant's memory in one statement, if nothing has to be done to it first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from memlab.core.due import Due, DueKind
from memlab.core.lease import LEASE, ParticipantLease
from memlab.core.ledger import Job, JobKind

LAB = 7
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

pytestmark = pytest.mark.django_db


def taken(whose: UUID, *, wall: datetime = NOW, maintained: datetime | None = None) -> bool:
    leases = ParticipantLease.objects
    holder = leases.acquire_at_rest(lab_id=LAB, participant=whose, wall=wall, maintained=maintained)
    assert holder is None or leases.still_held(participant=whose, holder=holder)
    return holder is not None


def step(whose: UUID) -> Job:
    return Job.objects.enqueue(
        lab_id=LAB, kind=JobKind.OBSERVE, participant=whose, subject=uuid4(), study_at=NOW
    )


def due(kind: DueKind, whose: UUID, at: datetime) -> None:
    Due.objects.plan(lab_id=LAB, kind=kind, subject=whose, study_at=at, wall_at=None)


def test_a_memory_at_rest_is_taken_once_until_its_lease_is_over() -> None:
    whose = uuid4()
    assert taken(whose)
    assert not taken(whose, wall=NOW + LEASE - timedelta(milliseconds=1))
    assert taken(whose, wall=NOW + LEASE)


def test_a_memory_with_a_pending_step_is_left_to_it() -> None:
    whose = uuid4()
    step(uuid4())  # somebody else's
    job = step(whose)
    assert not taken(whose)
    job.finish(wall=NOW, result={})
    assert taken(whose)


def test_a_memory_that_is_overdue_for_maintenance_is_left_to_it() -> None:
    whose = uuid4()
    due(DueKind.MAINTAIN, uuid4(), NOW - HOUR)  # somebody else's
    due(DueKind.STEPS, whose, NOW - HOUR)  # something else
    due(DueKind.MAINTAIN, whose, NOW)
    assert not taken(whose, maintained=NOW)
    assert taken(whose, maintained=NOW - HOUR)


def test_a_memory_that_needs_no_maintenance_is_taken_whatever_is_due() -> None:
    whose = uuid4()
    due(DueKind.MAINTAIN, whose, NOW - HOUR)
    assert taken(whose, maintained=None)


def test_a_lease_ends_with_its_holder_only() -> None:
    whose, leases = uuid4(), ParticipantLease.objects
    holder = leases.acquire(lab_id=LAB, participant=whose, wall=NOW)
    assert holder is not None
    leases.release(participant=whose, holder=uuid4())
    assert leases.still_held(participant=whose, holder=holder)
    assert not leases.still_held(participant=whose, holder=uuid4())
    assert not leases.still_held(participant=uuid4(), holder=holder)
    leases.release(participant=whose, holder=holder)
    assert not leases.still_held(participant=whose, holder=holder)
