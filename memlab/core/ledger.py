"""The job ledger: steps that must happen to a participant's memory, exactly once and in order.

A step is committed together with what caused it. An attempt is counted and committed *before*
the work, because the queue's own counter forgets workers that were killed. The work marks itself
done in its own write transaction (see ``memory.models.run``), so a step that died between its
write and ``finish`` finds nothing left to do.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

MAX_ATTEMPTS = 6
FIRST_PAUSE = timedelta(seconds=20)


class JobKind(models.TextChoices):
    OBSERVE = "observe", _("learning from a turn")
    # Of sessions before allocation too: that is the backfill.
    CONSOLIDATE = "consolidate", _("consolidating a session")
    BEGIN = "begin", _("beginning a session")
    MAINTAIN = "maintain", _("memory maintenance")
    BY_HAND = "by_hand", _("consolidation by hand")


class JobState(models.TextChoices):
    PENDING = "pending", _("pending")
    DONE = "done", _("done")
    FAILED = "failed", _("given up")  # given up after MAX_ATTEMPTS; staff can start it again
    DROPPED = "dropped", _("dropped")  # no longer wanted: the participant has withdrawn


class JobQuerySet(models.QuerySet["Job"]):
    def enqueue(
        self, *, lab_id: int, kind: JobKind, participant: UUID, subject: UUID, study_at: datetime
    ) -> Job:
        """The step, made once however often it is asked for."""
        job, _ = self.get_or_create(
            kind=kind,
            subject=subject,
            defaults={"lab_id": lab_id, "participant": participant, "study_at": study_at},
        )
        return job

    def pending_of(self, participant: UUID) -> models.QuerySet[Job]:
        """What a participant's memory still has to do, in the order of its causes: what time has
        brought to a moment comes before what happens at it."""
        return self.filter(participant=participant, state=JobState.PENDING).order_by(
            "study_at", models.Case(models.When(kind=JobKind.MAINTAIN, then=0), default=1), "pk"
        )

    def drop(self, participant: UUID) -> int:
        """Nothing that is left is wanted any more, not even what staff might start again."""
        open_ones = self.filter(
            participant=participant, state__in=[JobState.PENDING, JobState.FAILED]
        )
        return open_ones.update(state=JobState.DROPPED, not_before=None)


class Job(models.Model):
    lab_id = models.BigIntegerField()
    kind = models.CharField(_("kind"), max_length=16, choices=JobKind)
    participant = models.UUIDField()
    subject = models.UUIDField(help_text="The session, reply or participant the step is about.")
    study_at = models.DateTimeField(
        _("study time"), help_text=_("Study time of what the step belongs to.")
    )
    state = models.CharField(_("state"), max_length=8, choices=JobState, default=JobState.PENDING)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    not_before = models.DateTimeField(
        _("not before"), null=True, help_text=_("Wall time of the next attempt.")
    )
    failure = models.CharField(
        _("failure"), max_length=80, blank=True, help_text=_("A code, never text.")
    )
    result = models.JSONField(default=dict, help_text="Counts only.")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        verbose_name = _("memory step")
        verbose_name_plural = _("memory steps")
        constraints = [models.UniqueConstraint(fields=["kind", "subject"], name="one_job_a_cause")]
        indexes = [
            models.Index(
                fields=["participant", "study_at"],
                condition=models.Q(state="pending"),
                name="pending_job_of_participant",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.get_state_display()} · {self.subject}"

    def begin(self) -> bool:
        """Count and commit an attempt. False if it is over already."""
        with transaction.atomic():
            row = Job.objects.select_for_update().get(pk=self.pk)
            if row.state != JobState.PENDING:
                return False
            row.attempts += 1
            row.save(update_fields=["attempts"])
        self.attempts = row.attempts
        return True

    def finish(self, *, wall: datetime, result: dict[str, Any]) -> None:
        Job.objects.filter(pk=self.pk, state=JobState.PENDING).update(
            state=JobState.DONE, finished_at=wall, result=result, failure=""
        )

    def fail(self, *, wall: datetime, code: str) -> JobState:
        """Plan another attempt, later each time, or give up after MAX_ATTEMPTS."""
        given_up = self.attempts >= MAX_ATTEMPTS
        pause = FIRST_PAUSE * 2 ** max(0, self.attempts - 1)
        # As in `finish`: whoever was overtaken by another worker changes nothing any more.
        Job.objects.filter(pk=self.pk, state=JobState.PENDING).update(
            state=JobState.FAILED if given_up else JobState.PENDING,
            failure=code[:80],
            not_before=None if given_up else wall + pause,
            finished_at=wall if given_up else None,
        )
        self.refresh_from_db()
        return JobState(self.state)

    def restart(self) -> None:
        """Staff's remedy for a step that was given up."""
        self.state, self.attempts, self.not_before = JobState.PENDING, 0, None
        self.save(update_fields=["state", "attempts", "not_before"])
