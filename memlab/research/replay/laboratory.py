"""A lab of its own for each run, which nobody is a member of and which is erased afterwards.

A lease that the run renews tells others that it lives. A lab whose lease has run out belongs to
a run that was killed: the next run erases it, and so does ``replay --clean``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID, uuid4

from django.apps import apps
from django.db import connection, models, transaction

from experiments.models import Lab, Member
from experiments.models.lab import LabDirectory
from memlab.core.lease import ParticipantLease
from memlab.core.tenancy import lab_scope
from memlab.core.tenancy.purge import purging, until_undisturbed

RUNNING = "replay, running: "
KEPT = "replay, kept: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Laboratory:
    """A run's lab, and the lease by which it is known to live."""

    lab_id: int
    run: UUID
    holder: UUID


def open_laboratory(*, wall: datetime) -> Laboratory:
    """A new lab with its lease, both or neither."""
    run = uuid4()
    with transaction.atomic():
        lab = Lab.objects.found(name=f"{RUNNING}{run}")
        holder = ParticipantLease.objects.acquire(lab_id=lab.pk, participant=run, wall=wall)
        assert holder is not None, "Nobody else knows this id."
    return Laboratory(lab_id=lab.pk, run=run, holder=holder)


def keep(laboratory: Laboratory) -> None:
    """Leave the lab for somebody to look at; only ``clean`` with ``kept`` erases it then."""
    with lab_scope(laboratory.lab_id):
        Lab.objects.filter(pk=laboratory.lab_id).update(name=f"{KEPT}{laboratory.run}")


def clean(*, wall: datetime, kept: bool) -> int:
    """Erase what killed runs left behind, and with ``kept`` the labs of ``--keep``; how many."""
    marks = (RUNNING, KEPT) if kept else (RUNNING,)
    erased = 0
    for lab_id in LabDirectory.objects.values_list("lab_id", flat=True):
        if _abandoned(lab_id, marks, wall=wall):
            erase(lab_id)
            erased += 1
    return erased


def _abandoned(lab_id: int, marks: tuple[str, ...], *, wall: datetime) -> bool:
    """Whether a lab is a replay's, nobody is a member of it, and no run holds it."""
    if Member.objects.filter(lab_id=lab_id).exists():
        return False
    if ParticipantLease.objects.filter(lab_id=lab_id, until__gt=wall).exists():
        return False
    with lab_scope(lab_id):
        name = Lab.objects.values_list("name", flat=True).first() or ""
    return name.startswith(marks)


def erase(lab_id: int) -> None:
    """Remove every row of a lab from every table, in one transaction.

    Cancelling a run doesn't stop a unit that has begun, whose locks may cross ours.
    """
    until_undisturbed(partial(_erase, lab_id))


def _erase(lab_id: int) -> None:
    """Foreign keys are checked when it commits, so the order of the tables doesn't matter."""
    with lab_scope(lab_id), purging(), connection.cursor() as cursor:
        for model in models_with_a_lab():
            cursor.execute(f'DELETE FROM "{model._meta.db_table}" WHERE lab_id = %s', [lab_id])
        cursor.execute(f'DELETE FROM "{Lab._meta.db_table}" WHERE id = %s', [lab_id])


def models_with_a_lab() -> list[type[models.Model]]:
    """Every model whose rows name a lab: tenant tables, directories, due rows, jobs, leases."""
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if not model._meta.proxy
        and any(field.column == "lab_id" for field in model._meta.local_concrete_fields)
    ]
