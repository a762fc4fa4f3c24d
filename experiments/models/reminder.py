"""Reminders: each is sent at most once, by however many workers.

planned → sending → sent. ``sending`` is committed before anything leaves the house. Where a worker
dies in between, or a connection breaks while the message is handed over, nobody knows whether it
arrived: it is ``unknown`` and never sent again by itself. Only what certainly wasn't sent goes back
to planned, a limited number of times.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import ReminderChannel, ReminderKind, ReminderRule, ReminderState
from experiments.models.participant import Participant
from memlab.core.due import Due, DueKind
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

#: Longer than any channel's timeouts together: who is silent for so long has died.
SENDING_FOR = timedelta(minutes=10)
#: Pauses before the next attempt, where nothing was sent.
PAUSES = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
)


class ReminderQuerySet(TenantQuerySet["Reminder"]):
    def held(self, reminder_id: UUID) -> Reminder | None:
        """The reminder, kept from others until the transaction ends."""
        return (
            self.select_related("participant__study", "participant__version")
            .select_for_update(of=("self",))
            .filter(pk=reminder_id)
            .first()
        )


class Reminder(TenantModel):
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="reminders", verbose_name=_("participant")
    )
    kind = models.CharField(
        _("kind"), max_length=10, choices=ReminderKind.choices, default=ReminderKind.STAGE
    )
    stage_key = models.CharField(_("stage"), max_length=20, blank=True)
    number = models.PositiveSmallIntegerField(_("number"))
    channel = models.CharField(_("channel"), max_length=8, choices=ReminderChannel.choices)
    state = models.CharField(
        _("state"), max_length=10, choices=ReminderState.choices, default=ReminderState.PLANNED
    )
    rule = models.CharField(_("rule"), max_length=10, choices=ReminderRule.choices, blank=True)
    failure = models.CharField(_("failure"), max_length=60, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    due_at = models.DateTimeField(_("due (study time)"))
    sending_at = models.DateTimeField(_("sending began (wall time)"), null=True)
    settled_at = models.DateTimeField(_("settled (wall time)"), null=True)
    sent_at = models.DateTimeField(_("sent (study time)"), null=True)
    told_opens_at = models.DateTimeField(null=True, editable=False)
    told_closes_at = models.DateTimeField(null=True, editable=False)
    sequence = models.PositiveSmallIntegerField(default=0, editable=False)
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(ReminderQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("reminder")
        verbose_name_plural = _("reminders")
        ordering = ["-due_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "kind", "stage_key", "number", "channel"],
                name="one_reminder_of_a_number",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage_key or self.kind} · {self.number}"

    def plan(self, due_at: datetime) -> None:
        """Have it sent at a study time. What has left is left alone."""
        if self.state != ReminderState.PLANNED:
            return
        self.due_at = due_at
        self.save(update_fields=["due_at"])
        self.wake_at(self.participant.wall_time(due_at))

    def wake_at(self, wall: datetime | None) -> None:
        """Keep the reminder's due row. Lists are read by staff, and wake nobody."""
        if self.channel != ReminderChannel.LIST:
            Due.objects.plan(
                lab_id=self.lab_id,
                kind=DueKind.REMINDER,
                subject=self.id,
                study_at=self.due_at,
                wall_at=wall,
            )

    def forget(self) -> None:
        """It is planned no more, and nothing was sent: as if it had never been."""
        Due.objects.settle(lab_id=self.lab_id, kind=DueKind.REMINDER, subject=self.id)
        self.delete()

    def begin(
        self, *, wall: datetime, window: tuple[datetime | None, datetime | None], sequence: int
    ) -> None:
        """From here on it may have been sent. Committed before the network is touched."""
        self.state, self.sending_at, self.failure = ReminderState.SENDING, wall, ""
        self.attempts += 1
        self.told_opens_at, self.told_closes_at = window
        self.sequence = sequence
        self.save()
        self.wake_at(wall + SENDING_FOR)

    def awaits(self, began: datetime) -> bool:
        """Whether the outcome of the attempt that began then is still wanted: nobody has sent it
        again meanwhile. What was given up as unknown may still be told as it was."""
        open_states = (ReminderState.SENDING, ReminderState.UNKNOWN)
        return self.state in open_states and self.sending_at == began

    def gave_no_sign(self, *, wall: datetime) -> bool:
        """Being sent for so long that whoever sent it must have died."""
        return (
            self.state == ReminderState.SENDING
            and self.sending_at is not None
            and self.sending_at + SENDING_FOR <= wall
        )

    def arrived(self, *, wall: datetime) -> None:
        self.sent_at = self.participant.study_time(wall)
        self._settle(ReminderState.SENT, wall=wall)

    def simulate(self, *, wall: datetime) -> None:
        """A test run: everything as it would be, but nothing leaves the house."""
        self.sent_at = self.participant.study_time(wall)
        self._settle(ReminderState.SIMULATED, wall=wall)

    def expire(self, rule: ReminderRule, *, wall: datetime) -> None:
        self.rule = rule
        self._settle(ReminderState.EXPIRED, wall=wall)

    def lose(self, failure: str, *, wall: datetime) -> None:
        """Nobody knows whether it was sent."""
        self.failure = failure
        self._settle(ReminderState.UNKNOWN, wall=wall)

    def fail(self, failure: str, *, wall: datetime) -> None:
        self.failure = failure
        self._settle(ReminderState.FAILED, wall=wall)

    def try_later(self, failure: str, *, wall: datetime) -> None:
        """It certainly wasn't sent: again after a pause, or failed after the last one."""
        if self.attempts > len(PAUSES):
            self.fail(failure, wall=wall)
            return
        self.state, self.failure = ReminderState.PLANNED, failure
        self.save(update_fields=["state", "failure"])
        self.wake_at(wall + PAUSES[self.attempts - 1])

    def resend(self, *, wall: datetime) -> None:
        """By staff, who have decided that a second one does no harm."""
        self.state, self.attempts = ReminderState.PLANNED, 0
        self.failure, self.rule = "", ""
        self.due_at = self.participant.study_time(wall)
        self.save(update_fields=["state", "attempts", "failure", "rule", "due_at"])
        self.wake_at(wall)

    def _settle(self, state: ReminderState, *, wall: datetime) -> None:
        self.state, self.settled_at = state, wall
        self.save(update_fields=["state", "settled_at", "sent_at", "rule", "failure"])
        Due.objects.settle(lab_id=self.lab_id, kind=DueKind.REMINDER, subject=self.id)
