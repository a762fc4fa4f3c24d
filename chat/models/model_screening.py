"""Whether the extraction model has screened a message: the work of it, not its result."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.message import Message
from memlab.core.due import Due, DueKind
from memlab.core.tenancy.models import TenantModel

MAX_ATTEMPTS = 5
FIRST_PAUSE = timedelta(seconds=30)
# A model has this long for its answer before somebody else may ask.
ASKED_FOR = timedelta(minutes=3)


class ScreeningState(models.TextChoices):
    PENDING = "pending", _("pending")
    DONE = "done", _("done")
    FAILED = "failed", _("given up")


class ModelScreening(TenantModel):
    """Committed with its message. Attempts are counted before the model is asked."""

    message = models.ForeignKey(
        Message, models.PROTECT, related_name="screenings", verbose_name=_("message")
    )
    state = models.CharField(
        _("state"), max_length=8, choices=ScreeningState.choices, default=ScreeningState.PENDING
    )
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    failure = models.CharField(
        _("failure"), max_length=60, blank=True, help_text=_("A code, never text.")
    )
    finished_at = models.DateTimeField(_("finished at"), null=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("screening by the model")
        verbose_name_plural = _("screenings by the model")
        constraints = [
            models.UniqueConstraint(fields=["lab", "message"], name="one_screening_a_message")
        ]

    def __str__(self) -> str:
        return f"{self.get_state_display()} · {self.attempts}"

    def begin(self, *, wall: datetime) -> bool:
        """Count an attempt, committed before the model is asked; False if nothing is left to do.
        The caller holds the row's lock."""
        if self.state != ScreeningState.PENDING:
            self._unplan()
            return False
        if self.attempts >= MAX_ATTEMPTS:
            self._settle(ScreeningState.FAILED, wall=wall, failure=self.failure or "died")
            return False
        self.attempts += 1
        self.save(update_fields=["attempts"])
        self.plan(wall=wall + ASKED_FOR)
        return True

    def finish(self, *, wall: datetime) -> None:
        self._settle(ScreeningState.DONE, wall=wall)

    def fail(self, code: str, *, wall: datetime) -> None:
        """Another attempt after 30 s, 1, 2, 4 minutes; after the fifth it waits for staff."""
        if self.attempts >= MAX_ATTEMPTS:
            self._settle(ScreeningState.FAILED, wall=wall, failure=code)
            return
        self.failure = code[:60]
        self.save(update_fields=["failure"])
        self.plan(wall=wall + FIRST_PAUSE * 2 ** (self.attempts - 1))

    def plan(self, *, wall: datetime) -> None:
        Due.objects.plan(
            lab_id=self.lab_id,
            kind=DueKind.SCREEN,
            subject=self.message_id,
            study_at=None,
            wall_at=wall,
        )

    def _settle(self, state: ScreeningState, *, wall: datetime, failure: str = "") -> None:
        self.state, self.failure, self.finished_at = state, failure[:60], wall
        self.save(update_fields=["state", "failure", "finished_at"])
        self._unplan()

    def _unplan(self) -> None:
        Due.objects.settle(lab_id=self.lab_id, kind=DueKind.SCREEN, subject=self.message_id)
