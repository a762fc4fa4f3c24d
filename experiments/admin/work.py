"""Steps of the memories and what is due: what failed, when it is tried again, and the remedy.

Both tables are directories outside the policies: they are filtered by lab here, and the policies
don't help. They name their subjects by public ids only.
"""

from __future__ import annotations

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.enums import ActionVariant

from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.back_office.codes import told_failure
from experiments.enums import AuditAction, DeviationKind
from experiments.models import Deviation, Participant
from experiments.rights import Area, Right, Viewer
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobState


def _try_again(request: HttpRequest, jobs: TenantModelAdmin, job: Job) -> HttpResponseBase:
    if request.method != "POST":
        return jobs.confirm(
            request,
            job,
            title=_now("Try again"),
            lead=_now("The step starts anew within a minute, with its attempts counted from 0."),
            button=_now("Try again"),
        )
    job.restart()
    Due.objects.plan(
        lab_id=job.lab_id,
        kind=DueKind.STEPS,
        subject=job.participant,
        study_at=None,
        wall_at=wall_now(),
    )
    jobs.record(request, AuditAction.JOB_RESTARTED, job, kind=job.kind)
    participant = Participant.objects.get(lab_id=job.lab_id, public_id=job.participant)
    Deviation.objects.record(
        DeviationKind.STEP_RESTARTED,
        study=participant.study_id,
        participant=participant,
        user_id=request.user.pk,
        step=job.pk,
        step_kind=job.kind,
    )
    messages.success(request, _now("Planned. It runs within a minute."))
    return redirect(jobs.change_url(job))


def _given_up(viewer: Viewer, job: Job) -> bool:
    return viewer.may(Area.WORK, Right.CHANGE) and job.state == JobState.FAILED


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    area = Area.WORK
    menu, menu_position, icon = Menu.WORK, 10, "memory"
    list_display = ["kind", "state_label", "attempts", "shown_failure", "study_at", "not_before"]
    list_filter = ["state", "kind"]
    search_fields = ["failure"]
    ordering = ["-pk"]
    fields = [
        "kind",
        "state",
        "attempts",
        "shown_failure",
        "study_at",
        "not_before",
        "created_at",
        "finished_at",
    ]
    pages = [
        ObjectPage(
            slug="again",
            title=_("Try again"),
            icon="replay",
            view=_try_again,
            shown=_given_up,
            variant=ActionVariant.PRIMARY,
        )
    ]

    @admin.display(description=_("failure"), ordering="failure")
    def shown_failure(self, job: Job) -> str:
        return told_failure(job.failure) or "–"

    @display(
        description=_("state"),
        ordering="state",
        label={"done": "success", "pending": "info", "failed": "danger"},
    )
    def state_label(self, job: Job) -> tuple[str, str]:
        return job.state, job.get_state_display()


@admin.register(Due)
class DueAdmin(ReadOnlyAdmin):
    area = Area.WORK
    menu, menu_position, icon = Menu.WORK, 20, "schedule"
    menu_title = _("What is due")
    list_display = ["kind", "study_at", "wall_at"]
    list_filter = ["kind"]
    search_fields = ["kind"]
    ordering = ["wall_at"]
    fields = ["kind", "study_at", "wall_at"]
