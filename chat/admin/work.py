"""What a memory has to do and what came of it: a page for a participant, a page for a study.

Which steps there are, and what they write, depends on the arm: only for whoever is unblinded.
Steps and due rows are outside the policies; every query here names the lab.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from chat import upkeep
from experiments.admin.participant import ParticipantAdmin
from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.back_office.codes import told_failure
from experiments.enums import AuditAction, Clock, DeviationKind
from experiments.models import Deviation, Participant, Study
from experiments.rights import Area, Right, Viewer, viewer_of
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobState
from memory.admin.counts import written

#: How many of a participant's steps are shown, the latest first.
STEPS_SHOWN = 40
SLUG = "memory-work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a participant's memory stands. ``resting``: its maintenance was given up."""

    participant: Participant
    url: str
    next_at: datetime | None
    resting: bool
    pending: int
    given_up: int
    last: Job | None

    @property
    def result(self) -> str:
        return "" if self.last is None else written(self.last.result)


def standings(lab_id: int, participants: Sequence[Participant]) -> list[Standing]:
    """One a participant, in three queries however many they are."""
    people = [person.public_id for person in participants]
    mine = Job.objects.filter(lab_id=lab_id, participant__in=people)
    unfinished: dict[UUID, dict[str, int]] = {
        whose: {"pending": pending, "given_up": given_up}
        for whose, pending, given_up in mine.exclude(state=JobState.DONE)
        .order_by()
        .values("participant")
        .annotate(
            pending=Count("pk", filter=Q(state=JobState.PENDING)),
            given_up=Count("pk", filter=Q(state=JobState.FAILED)),
        )
        .values_list("participant", "pending", "given_up")
    }
    none = {"pending": 0, "given_up": 0}
    done = mine.filter(state=JobState.DONE).order_by("participant", "-finished_at", "-pk")
    last = {job.participant: job for job in done.distinct("participant")}
    due = _due(lab_id, people)
    return [
        Standing(
            participant=person,
            url=reverse(f"admin:experiments_participant_{SLUG}", args=[person.pk]),
            next_at=due[person.public_id].study_at if person.public_id in due else None,
            resting=_rests(person, due.get(person.public_id)),
            **unfinished.get(person.public_id, none),
            last=last.get(person.public_id),
        )
        for person in participants
    ]


def _due(lab_id: int, people: Iterable[UUID]) -> dict[UUID, Due]:
    rows = Due.objects.filter(lab_id=lab_id, kind=DueKind.MAINTAIN, subject__in=list(people))
    return {row.subject: row for row in rows}


def _rests(person: Participant, due: Due | None) -> bool:
    return due is not None and due.wall_at is None and person.clock == Clock.LIVE


def _of_participant(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    mine = Job.objects.filter(lab_id=participant.lab_id, participant=participant.public_id)
    (standing,) = standings(participant.lab_id, [participant])
    context: dict[str, Any] = pages.page_context(
        request,
        participant,
        title=_now("Memory work of %(code)s") % {"code": participant.code},
        standing=standing,
        now=participant.study_time(wall_now()),
        steps=[
            (
                job,
                written(job.result),
                told_failure(job.failure),
                reverse("admin:core_job_change", args=[job.pk]),
            )
            for job in mine.order_by("-study_at", "-pk")[:STEPS_SHOWN]
        ],
        by_hand=pages.page_url("consolidate", participant)
        if _may_consolidate(viewer, participant)
        else None,
    )
    return render(request, "back_office/memory_work.html", context)


def _of_study(request: HttpRequest, pages: TenantModelAdmin, study: Study) -> HttpResponseBase:
    people = Participant.objects.filter(lab_id=study.lab_id, study=study).exclude(allocations=None)
    rows = standings(study.lab_id, list(people.order_by("code")))
    context = pages.page_context(
        request,
        study,
        title=_now("Memory work"),
        rows=rows,
        pending=sum(row.pending for row in rows),
        given_up=sum(row.given_up for row in rows),
    )
    return render(request, "back_office/memory_work_study.html", context)


def _consolidate(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    if request.method != "POST":
        return pages.confirm(
            request,
            participant,
            title=_now("Consolidate memory now"),
            lead=_now(
                "First everything that is due is done, in order. Then the memory is consolidated "
                "as of now, in the way of its arm; where an arm has no such way, that is all. It "
                "is part of the record: who did it, and when."
            ),
            button=_now("Consolidate"),
        )
    locked = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    job = upkeep.by_hand(locked, wall=wall_now())
    pages.record(
        request,
        AuditAction.CONSOLIDATE_BY_HAND,
        participant,
        study_at=job.study_at.isoformat(),
        step=job.pk,
    )
    Deviation.objects.record(
        DeviationKind.CONSOLIDATED,
        study=locked.study_id,
        participant=locked,
        user_id=request.user.pk,
        study_at=job.study_at,
        step=job.pk,
    )
    messages.success(request, _now("Planned. It runs within a minute."))
    viewer = viewer_of(request)
    assert viewer is not None
    shows = _sees_work_of(viewer, participant)
    return redirect(pages.page_url(SLUG if shows else "change", participant))


def _sees_work_of(viewer: Viewer, participant: Participant) -> bool:
    return viewer.may(Area.WORK) and viewer.sees_arm_of(participant)


def _may_consolidate(viewer: Viewer, participant: Participant) -> bool:
    return (
        viewer.may(Area.WORK, Right.CHANGE)
        and participant.clock == Clock.LIVE
        and bool(participant.allocations.all())
    )


ParticipantAdmin.pages += [
    ObjectPage(
        slug=SLUG,
        title=_("Memory work"),
        icon="memory",
        view=_of_participant,
        shown=_sees_work_of,
    ),
    ObjectPage(
        slug="consolidate",
        rare=True,
        title=_("Consolidate memory now"),
        icon="bedtime",
        view=_consolidate,
        shown=_may_consolidate,
    ),
]
StudyAdmin.pages.append(
    ObjectPage(
        slug=SLUG,
        rare=True,
        title=_("Memory work"),
        icon="memory",
        view=_of_study,
        shown=lambda viewer, study: viewer.may(Area.WORK) and viewer.sees_arms_of(study),
    )
)
