"""Due work, steps and leases of a person, and their tasks in the queue and among its results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django_q.models import OrmQ, Task

from memlab.core.due import Due, DueKind
from memlab.core.lease import ParticipantLease
from memlab.core.ledger import Job
from memlab.core.personal import Counts, Person, Personal, Rows

#: What goes on after a withdrawal: being carried out, and telling who must know of a danger.
GOES_ON = (DueKind.WITHDRAWAL, DueKind.ALERT)


def stop_work(person: Person, *, kinds: Iterable[DueKind] = tuple(DueKind)) -> Counts:
    """Nothing of these kinds is due for the person any more, their steps are dropped, and whoever
    holds their memory's lease has lost it: they learn it when they renew."""
    stopped = [kind for kind in kinds if kind not in GOES_ON]
    return {
        "core.Due": _due(person).filter(kind__in=stopped).delete()[0],
        "core.Job": Job.objects.drop(person.public_id),
        "core.ParticipantLease": ParticipantLease.objects.filter(
            participant=person.public_id
        ).delete()[0],
    }


def _due(person: Person) -> Any:
    return Due.objects.filter(lab_id=person.lab_id, subject__in=person.ids)


def erase_due(person: Person) -> Counts:
    return {"core.Due": _due(person).delete()[0]}


def anonymise_due(person: Person) -> Counts:
    """The adverse events of whoever is anonymised stay, and so does what is still to be told."""
    return {"core.Due": _due(person).exclude(kind__in=GOES_ON).delete()[0]}


def erase_tasks(person: Person) -> Counts:
    """Tasks get ids only; those that name the person go all the same, with what came of them."""
    names = {str(each) for each in person.ids}
    queued = [row.pk for row in OrmQ.objects.all() if _names(row.task, names)]
    finished = [
        row.pk
        for row in Task.objects.all().iterator()
        if _names({"args": row.args, "kwargs": row.kwargs}, names)
    ]
    return {
        "django_q.OrmQ": OrmQ.objects.filter(pk__in=queued).delete()[0],
        "django_q.Task": Task.objects.filter(pk__in=finished).delete()[0],
    }


def _names(task: dict[str, Any], names: set[str]) -> bool:
    given = [*(task.get("args") or ()), *(task.get("kwargs") or {}).values()]
    return any(str(each) in names for each in given)


PERSONAL = Personal(
    rows=(
        Rows(model="core.Job", by="public_id", evidence=True),
        Rows(model="core.ParticipantLease", by="public_id", evidence=True),
    ),
    erase=(erase_due, erase_tasks),
    anonymise=(anonymise_due, erase_tasks),
)
