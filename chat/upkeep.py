"""Maintenance: what time alone does to a memory, in the order in which it would have happened.

A participant whose memory changes with time has one due row, at the next moment of study time at
which something is to be done. It is planned in the transaction of every write to that memory, and
becomes a step (``JobKind.MAINTAIN``) once its moment has come: by the tick, before a later step,
or before a turn that needs it. However late that is, ``maintain`` walks every missed moment at its
own study time, and never past one at which something earlier may still be written.

Synchronous functions, called inside a ``lab_scope``.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid5

from django.db.models import Min

from chat import sessions
from chat.models import Reply
from experiments.enums import SessionState
from experiments.models import Participant, Session
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobKind, JobState
from memory.architectures.base import Architecture


def plan(architecture: Architecture) -> datetime | None:
    """Keep the participant's one due row at the memory's next moment, which is returned.

    Call it last in the transaction that wrote. The lock makes two writers plan one after the
    other, so that the row never stays behind what both have left; and it keeps the clock's offset
    from being moved meanwhile.
    """
    if not architecture.maintains:
        return None
    person = Participant.objects.select_for_update(no_key=True).get(pk=architecture.participant_id)
    moment = architecture.next_maintenance()
    person.maintain_at(moment)
    return moment


def is_due(participant: UUID, *, until: datetime) -> bool:
    """Whether something should have been done by ``until`` (study time). One statement, for which
    no scope is needed."""
    rows = Due.objects.filter(kind=DueKind.MAINTAIN, subject=participant)
    return rows.filter(study_at__lte=until).exists()


def request(participant: Participant, *, until: datetime) -> Job | None:
    """The pending step for what is due by ``until``, made if there is none.

    None if nothing is due, or if it was given up: then it rests until staff start it again, and
    whatever waits for it goes on.
    """
    due = Due.objects.locked(
        lab_id=participant.lab_id, kind=DueKind.MAINTAIN, subject=participant.public_id
    )
    if due is None or due.study_at is None or due.study_at > until:
        return None
    pending = Job.objects.pending_of(participant.public_id).filter(kind=JobKind.MAINTAIN).first()
    job = pending or _enqueue(participant, due.study_at)
    if job.state == JobState.FAILED:
        Due.objects.filter(pk=due.pk).update(wall_at=None)
        return None
    if job.state == JobState.DONE:
        job.restart()  # its moment has come again, with what was written since
    return job


def _enqueue(participant: Participant, moment: datetime) -> Job:
    return Job.objects.enqueue(
        lab_id=participant.lab_id,
        kind=JobKind.MAINTAIN,
        participant=participant.public_id,
        subject=uuid5(participant.public_id, f"maintain:{moment.isoformat()}"),
        study_at=moment,
    )


def by_hand(participant: Participant, *, wall: datetime) -> Job:
    """Have staff's wish done now, as a step of its own: what is due comes before it."""
    now = participant.study_time(wall)
    waiting = Job.objects.pending_of(participant.public_id).filter(kind=JobKind.BY_HAND).first()
    job = waiting or Job.objects.enqueue(
        lab_id=participant.lab_id,
        kind=JobKind.BY_HAND,
        participant=participant.public_id,
        subject=uuid5(participant.public_id, f"by hand:{now.isoformat()}"),
        study_at=now,
    )
    sessions.plan_steps(participant)
    return job


def horizon(participant: Participant, *, wall: datetime) -> datetime:
    """How far maintenance may go: to the participant's present, but past no question that still
    waits for its reply, and past no end of a session that nobody has closed yet."""
    asked = Reply.objects.pending().filter(session__participant=participant)
    first = asked.aggregate(first=Min("question__at"))["first"]
    talking = Session.objects.with_study().filter(participant=participant, state=SessionState.OPEN)
    ways = [session.closing(session.stage) for session in talking]
    limits = [participant.study_time(wall), *(way[0] for way in ways if way is not None)]
    return min(limits if first is None else [*limits, first])
