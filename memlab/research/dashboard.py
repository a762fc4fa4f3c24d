"""The back office's first page: what needs a person, and how enrolment stands.

Inside a ``lab_scope``. Directory tables are filtered by lab here, for no policy does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.models import Reply, ReplyState
from experiments.enums import ParticipantState, SessionState, StudyStatus
from experiments.models import Session, Study
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobState

# Later than this, what was due has been forgotten by whoever should have done it.
OVERDUE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Something that waits for a person, how often, and where to look."""

    title: str | Promise
    explanation: str | Promise
    count: int
    url: str
    serious: bool


def needs(*, lab_id: int, sees_work: bool, wall: datetime) -> list[Need]:
    """What isn't well now. Failures of memory steps depend on the arm: only with ``sees_work``."""
    late = wall - OVERDUE
    replies = reverse("admin:chat_reply_changelist")
    sessions = reverse("admin:experiments_session_changelist")
    found = [
        Need(
            title=_("Replies that failed and can be retried"),
            explanation=_("The participant sees a Retry button."),
            count=Reply.objects.filter(
                lab_id=lab_id, state=ReplyState.FAILED, retryable=True
            ).count(),
            url=f"{replies}?state__exact=failed&retryable__exact=1",
            serious=False,
        ),
        Need(
            title=_("Replies that nobody is making"),
            explanation=_("Pending for more than ten minutes: are web and task processes running?"),
            count=Reply.objects.filter(
                lab_id=lab_id, state=ReplyState.PENDING, message__recorded_at__lt=late
            ).count(),
            url=f"{replies}?state__exact=pending",
            serious=True,
        ),
        Need(
            title=_("Sessions that should have closed"),
            explanation=_("Their time was over more than ten minutes ago."),
            count=Due.objects.filter(lab_id=lab_id, kind=DueKind.SESSION, wall_at__lt=late).count()
            + Session.objects.filter(
                lab_id=lab_id,
                state=SessionState.CLOSING,
                ended_at__lt=late,
                participant__clock_offset=timedelta(),
            ).count(),
            url=f"{sessions}?state__exact=open",
            serious=True,
        ),
    ]
    if sees_work:
        found += _work(lab_id, late)
    return [need for need in found if need.count]


def _work(lab_id: int, late: datetime) -> list[Need]:
    jobs = reverse("admin:core_job_changelist")
    mine = Job.objects.filter(lab_id=lab_id)
    return [
        Need(
            title=_("Memories whose maintenance is overdue"),
            explanation=_("By more than ten minutes: is a task process running?"),
            count=Due.objects.filter(
                lab_id=lab_id, kind=DueKind.MAINTAIN, wall_at__lt=late
            ).count(),
            url=f"{reverse('admin:core_due_changelist')}?kind__exact=maintain",
            serious=True,
        ),
        Need(
            title=_("Memory steps that were given up"),
            explanation=_("After six attempts. Look at the reason, then try again."),
            count=mine.filter(state=JobState.FAILED).count(),
            url=f"{jobs}?state__exact=failed",
            serious=True,
        ),
        Need(
            title=_("Memory steps that failed and will be tried again"),
            explanation=_("They are repeated by themselves, later each time."),
            count=mine.filter(state=JobState.PENDING).exclude(failure="").count(),
            url=f"{jobs}?state__exact=pending",
            serious=False,
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """One study's people, test runs apart; and its sessions under way."""

    study: Study
    invited: int
    active: int
    complete: int
    left: int
    test_runs: int
    talking: int
    url: str


def enrolment(*, lab_id: int) -> list[Enrolment]:
    """Every study that is not archived, the newest first, in two queries."""
    real = Q(participants__test_mode=False)
    state = ParticipantState

    def people(*states: ParticipantState) -> Count:
        return Count("participants", filter=real & Q(participants__state__in=states))

    talking = dict(
        Session.objects.filter(lab_id=lab_id, state=SessionState.OPEN, participant__test_mode=False)
        .order_by()
        .values_list("participant__study_id")
        .annotate(Count("pk"))
    )
    studies = (
        Study.objects.filter(lab_id=lab_id)
        .exclude(status=StudyStatus.ARCHIVED)
        .annotate(
            invited=people(state.INVITED),
            active=people(state.ACTIVE),
            complete=people(state.COMPLETE),
            left=people(state.DECLINED, state.WITHDRAWN),
            test_runs=Count("participants", filter=Q(participants__test_mode=True)),
        )
    )
    return [
        Enrolment(
            study=study,
            invited=study.invited,
            active=study.active,
            complete=study.complete,
            left=study.left,
            test_runs=study.test_runs,
            talking=talking.get(study.pk, 0),
            url=reverse("admin:experiments_study_change", args=[study.pk]),
        )
        for study in studies
    ]
