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

from chat.models import AdverseEvent, ModelScreening, Reply, ReplyState, ScreeningState
from chat.safety.enums import EventState
from experiments.enums import (
    ParticipantState,
    PaymentState,
    ReminderChannel,
    ReminderState,
    SessionState,
    StudyStatus,
    WithdrawalState,
)
from experiments.models import (
    Participant,
    Payment,
    Reminder,
    Session,
    StaffMessage,
    Study,
    WindowMark,
    Withdrawal,
)
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobState

# Later than this, what was due has been forgotten by whoever should have done it.
OVERDUE = timedelta(minutes=10)
# So long a stage that was lost stands on the first page.
LATELY = timedelta(days=3)


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
        *_safety(lab_id),
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
    found += [_withdrawals(lab_id, late), *_people(lab_id)]
    found += _waiting(lab_id, wall, late)
    if sees_work:
        found += _work(lab_id, late)
    return [need for need in found if need.count]


def _safety(lab_id: int) -> list[Need]:
    events = AdverseEvent.objects.filter(lab_id=lab_id)
    page = reverse("admin:chat_adverseevent_changelist")
    screenings = ModelScreening.objects.filter(lab_id=lab_id, state=ScreeningState.FAILED)
    paused = Participant.objects.filter(lab_id=lab_id, paused_at__isnull=False)
    return [
        Need(
            title=_("Adverse events that nobody has looked at"),
            explanation=_("Somebody may be in danger. Read the place, act, then acknowledge."),
            count=events.filter(state=EventState.OPEN).count(),
            url=f"{page}?state__exact=open",
            serious=True,
        ),
        Need(
            title=_("Alerts that could not be sent, or nobody knows"),
            explanation=_("The safety contact may not have been told: tell them, or alert again."),
            count=events.untold().count(),
            url=f"{page}?alert__in=unknown,failed",
            serious=True,
        ),
        Need(
            title=_("Participants who are paused"),
            explanation=_("They can't say anything until somebody lets them go on."),
            count=paused.count(),
            url=f"{reverse('admin:experiments_participant_changelist')}?paused_at__isempty=0",
            serious=True,
        ),
        Need(
            title=_("Adverse events that are being looked after"),
            explanation=_("Acknowledged and not closed yet."),
            count=events.filter(state=EventState.ACKNOWLEDGED).count(),
            url=f"{page}?state__exact=acknowledged",
            serious=False,
        ),
        Need(
            title=_("Messages that the model could not screen"),
            explanation=_("After five attempts. The rules have screened them all the same."),
            count=screenings.count(),
            url=f"{reverse('admin:chat_modelscreening_changelist')}?state__exact=failed",
            serious=True,
        ),
    ]


def _withdrawals(lab_id: int, late: datetime) -> Need:
    """Wishes that nothing has come of: an erasure that fails is tried again, but never told."""
    page = reverse("admin:experiments_withdrawal_changelist")
    asked = Withdrawal.objects.filter(lab_id=lab_id, state=WithdrawalState.REQUESTED)
    return Need(
        title=_("Withdrawals that aren't carried out"),
        explanation=_(
            "Asked for more than ten minutes ago: is a task process running, and can it write the "
            "log of erasures?"
        ),
        count=asked.filter(requested_wall__lt=late).count(),
        url=f"{page}?state__exact=requested",
        serious=True,
    )


def _people(lab_id: int) -> list[Need]:
    """What participants wait for."""
    letters = reverse("admin:experiments_staffmessage_changelist")
    payments = reverse("admin:experiments_payment_changelist")
    mine = {"lab_id": lab_id, "test_mode": False}
    return [
        Need(
            title=_("Messages of participants that nobody has read"),
            explanation=_("Answer on the participant's page."),
            count=StaffMessage.objects.filter(lab_id=lab_id).unread(from_staff=False).count(),
            url=f"{letters}?from_staff__exact=0&read_at__isempty=1",
            serious=False,
        ),
        Need(
            title=_("Payments to approve"),
            explanation=_("Earned, and neither approved nor withheld."),
            count=Payment.objects.filter(**mine, state=PaymentState.EARNED).count(),
            url=f"{payments}?state__exact=earned&test_mode__exact=0",
            serious=False,
        ),
    ]


def _waiting(lab_id: int, wall: datetime, late: datetime) -> list[Need]:
    """Windows and reminders that somebody should look at."""
    reminders = reverse("admin:experiments_reminder_changelist")
    real = Reminder.objects.filter(lab_id=lab_id, participant__test_mode=False)
    lost = WindowMark.objects.standing().filter(
        lab_id=lab_id,
        participant__test_mode=False,
        participant__study__status=StudyStatus.OPEN,
        recorded_at__gt=wall - LATELY,
    )
    return [
        Need(
            title=_("Stages that were missed or not finished"),
            explanation=_("In the last three days. A window can be extended on the person's page."),
            count=lost.count(),
            url=reverse("admin:experiments_windowmark_changelist"),
            serious=False,
        ),
        Need(
            title=_("Reminders that failed"),
            explanation=_("They didn't arrive. Look at the reason, then send them again."),
            count=real.filter(state=ReminderState.FAILED).count(),
            url=f"{reminders}?state__exact=failed",
            serious=True,
        ),
        Need(
            title=_("Reminders of which nobody knows whether they arrived"),
            explanation=_("They are not sent again by themselves."),
            count=real.filter(state=ReminderState.UNKNOWN).count(),
            url=f"{reminders}?state__exact=unknown",
            serious=False,
        ),
        Need(
            title=_("Reminders to hand over to the recruiter"),
            explanation=_("On the study's page: today's reminders."),
            count=real.filter(
                state=ReminderState.PLANNED, channel=ReminderChannel.LIST, due_at__lte=wall
            ).count(),
            url=f"{reminders}?state__exact=planned&channel__exact=list",
            serious=False,
        ),
        Need(
            title=_("Windows and reminders that are overdue"),
            explanation=_("By more than ten minutes: is a task process running?"),
            count=Due.objects.filter(
                lab_id=lab_id, kind__in=[DueKind.WINDOW, DueKind.REMINDER], wall_at__lt=late
            ).count(),
            url=reverse("admin:experiments_participant_changelist"),
            serious=True,
        ),
    ]


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
