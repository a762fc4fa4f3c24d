"""Adverse events: what may have harmed a participant, or shows that they are in danger."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.message import Message
from chat.safety.enums import (
    SHOWS_CARD,
    AlertState,
    Category,
    EventState,
    Severity,
    Source,
)
from experiments.models import Participant, Session
from memlab.core.due import Due, DueKind
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

MAX_ATTEMPTS = 6
FIRST_PAUSE = timedelta(minutes=1)
# Longer than an attempt can take: whoever is still "sending" by then is dead.
SENDING_FOR = timedelta(minutes=5)
# An event that is no worse than an open one that was alerted within this time isn't alerted too.
ONE_ALERT_IN = timedelta(hours=1)


class AdverseEventQuerySet(TenantQuerySet["AdverseEvent"]):
    def with_card(self) -> AdverseEventQuerySet:
        """Those that show the participant the crisis card."""
        return self.filter(source__in=SHOWS_CARD)

    def unhandled(self) -> AdverseEventQuerySet:
        return self.exclude(state=EventState.CLOSED)

    def untold(self) -> AdverseEventQuerySet:
        """Those whose safety contact hasn't been told, or nobody knows."""
        return self.filter(alert__in=[AlertState.UNKNOWN, AlertState.FAILED]).unhandled()


class AdverseEvent(TenantModel):
    """What was noticed, about whom and where; the words stay in the message that it points to.

    A message is noticed once by each source. ``alert`` is how far the mail to the safety contact
    has come. Whatever happened in a conversation is written in the transaction that stores it.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    participant = models.ForeignKey(
        Participant,
        models.PROTECT,
        related_name="adverse_events",
        verbose_name=_("participant"),
    )
    session = models.ForeignKey(
        Session, models.PROTECT, null=True, related_name="+", verbose_name=_("session")
    )
    message = models.ForeignKey(
        Message, models.PROTECT, null=True, related_name="+", verbose_name=_("message")
    )
    source = models.CharField(_("noticed by"), max_length=12, choices=Source.choices)
    category = models.CharField(_("category"), max_length=16, choices=Category.choices)
    severity = models.CharField(_("severity"), max_length=8, choices=Severity.choices)
    rule = models.CharField(_("rule"), max_length=60, blank=True)
    state = models.CharField(
        _("state"), max_length=12, choices=EventState.choices, default=EventState.OPEN
    )
    note = models.TextField(_("note"), blank=True)
    occurred_at = models.DateTimeField(_("happened (study time)"))
    recorded_at = models.DateTimeField(_("recorded (wall time)"))
    acknowledged_at = models.DateTimeField(_("acknowledged"), null=True)
    closed_at = models.DateTimeField(_("closed"), null=True)
    alert = models.CharField(
        _("alert"), max_length=8, choices=AlertState.choices, default=AlertState.NONE
    )
    alert_attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    alert_failure = models.CharField(
        _("failure"), max_length=60, blank=True, help_text=_("A code, never text.")
    )
    alert_begun_at = models.DateTimeField(null=True, editable=False)
    told_at = models.DateTimeField(_("contact told"), null=True)

    objects = TenantManager.from_queryset(AdverseEventQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("adverse event")
        verbose_name_plural = _("adverse events")
        ordering = ["-recorded_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "message", "source"], name="one_event_a_message_and_source"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_category_display()} · {self.get_severity_display()}"

    def acknowledge(self, *, wall: datetime, note: str = "") -> None:
        """Somebody has seen it and is at work on it."""
        self.state, self.acknowledged_at = EventState.ACKNOWLEDGED, wall
        self._add_note(note)
        self.save(update_fields=["state", "acknowledged_at", "note"])

    def close(self, *, wall: datetime, note: str) -> None:
        """It needs nobody any more; ``note`` says why. What was still to be sent is sent."""
        self.state, self.closed_at = EventState.CLOSED, wall
        self.acknowledged_at = self.acknowledged_at or wall
        self._add_note(note)
        self.save(update_fields=["state", "closed_at", "acknowledged_at", "note"])

    def _add_note(self, note: str) -> None:
        self.note = "\n\n".join(part for part in (self.note, note.strip()) if part)

    # The alert

    def queue_alert(self, *, wall: datetime) -> None:
        """Have the safety contact told as soon as a task can."""
        self.alert, self.alert_attempts, self.alert_failure = AlertState.QUEUED, 0, ""
        self.save(update_fields=["alert", "alert_attempts", "alert_failure"])
        self._plan(wall)

    def begin_alert(self, *, wall: datetime) -> bool:
        """Take the sending upon oneself, committed before the first byte is sent: whether it may
        go ahead. One that was begun and never ended is nobody's to repeat: it becomes unknown.

        The caller holds the row's lock."""
        if self.alert == AlertState.SENDING and self._overdue(wall):
            self._settle_alert(AlertState.UNKNOWN, failure="died")
        if self.alert != AlertState.QUEUED:
            if self.alert != AlertState.SENDING:
                self._unplan()
            return False
        self.alert, self.alert_begun_at = AlertState.SENDING, wall
        self.alert_attempts += 1
        self.save(update_fields=["alert", "alert_begun_at", "alert_attempts"])
        self._plan(wall + SENDING_FOR)
        return True

    def _overdue(self, wall: datetime) -> bool:
        return self.alert_begun_at is not None and self.alert_begun_at + SENDING_FOR <= wall

    def alert_sent(self, *, wall: datetime) -> None:
        self.told_at = wall
        self.save(update_fields=["told_at"])
        self._settle_alert(AlertState.SENT)

    def alert_failed(self, code: str) -> None:
        """It was certainly not sent, and trying again won't help."""
        self._settle_alert(AlertState.FAILED, failure=code)

    def alert_unknown(self, code: str) -> None:
        """Nobody knows whether it was sent, so that nobody sends it again unasked."""
        self._settle_alert(AlertState.UNKNOWN, failure=code)

    def postpone_alert(self, code: str, *, wall: datetime) -> None:
        """It was certainly not sent: again after 1, 2, 4 … minutes, six times at most."""
        if self.alert_attempts >= MAX_ATTEMPTS:
            self.alert_failed(code)
            return
        self.alert, self.alert_failure = AlertState.QUEUED, code[:60]
        self.save(update_fields=["alert", "alert_failure"])
        self._plan(wall + FIRST_PAUSE * 2 ** (self.alert_attempts - 1))

    def _settle_alert(self, state: AlertState, *, failure: str = "") -> None:
        self.alert, self.alert_failure = state, failure[:60]
        self.save(update_fields=["alert", "alert_failure"])
        self._unplan()

    def _plan(self, wall: datetime) -> None:
        Due.objects.plan(
            lab_id=self.lab_id, kind=DueKind.ALERT, subject=self.id, study_at=None, wall_at=wall
        )

    def _unplan(self) -> None:
        Due.objects.settle(lab_id=self.lab_id, kind=DueKind.ALERT, subject=self.id)
