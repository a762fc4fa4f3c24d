"""One conversation of a participant in a stage: open → closing → ended → complete or expired."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.configuration import ArmConfiguration, StageConfiguration
from experiments.enums import Closed, SessionState
from experiments.models.participant import Participant
from experiments.models.version import StudyVersion
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


class SessionQuerySet(TenantQuerySet["Session"]):
    def with_study(self) -> TenantQuerySet:
        """Sessions with what a conversation asks of their participants and versions, which are wide
        rows and read twice a turn; whatever else is asked of them is read when it is asked for. A
        configuration is read and parsed once a process (``StudyVersion.configuration``)."""
        own = [field.name for field in self.model._meta.concrete_fields]
        return self.select_related("participant", "version").only(*own, *_ASKED)


#: Whose conversation it is, whether it may go on, at what study time, and under which version.
_ASKED = (
    "participant__lab",
    "participant__study",
    "participant__public_id",
    "participant__version",
    "participant__state",
    "participant__clock",
    "participant__clock_offset",
    "participant__scripted_now",
    "participant__paused_at",
    "participant__chat_left_at",
    "version__lab",
    "version__sha256",
)


class Session(TenantModel):
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="sessions", verbose_name=_("participant")
    )
    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    stage_key = models.CharField(_("stage"), max_length=20)
    number = models.PositiveSmallIntegerField(_("number"))
    state = models.CharField(
        _("state"), max_length=10, choices=SessionState.choices, default=SessionState.OPEN
    )
    manipulation = models.BooleanField(_("manipulation active"))
    closed_by = models.CharField(_("closed by"), max_length=12, choices=Closed.choices, blank=True)
    last_seq = models.PositiveIntegerField(default=0, editable=False)
    turns = models.PositiveIntegerField(_("turns"), default=0, editable=False)
    degraded = models.JSONField(_("degraded"), default=list, editable=False)
    started_at = models.DateTimeField(_("started (study time)"))
    last_activity_at = models.DateTimeField(_("last activity (study time)"))
    window_closes_at = models.DateTimeField(_("window closes (study time)"), null=True)
    ended_at = models.DateTimeField(_("ended (study time)"), null=True)
    started_wall = models.DateTimeField(_("started (wall time)"), auto_now_add=True)
    paused_at = models.DateTimeField(
        _("paused (study time)"),
        null=True,
        editable=False,
        help_text=_("Nothing can be said, and nothing closes it by itself, until it goes on."),
    )
    stood_still = models.DurationField(
        _("stood still"),
        default=timedelta,
        editable=False,
        help_text=_("How long it was paused: its times are put off by as much."),
    )

    objects = TenantManager.from_queryset(SessionQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ["participant", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "stage_key"], name="one_session_a_stage"
            ),
            models.UniqueConstraint(
                fields=["lab", "participant", "number"], name="session_number_of_participant"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage_key} · {self.get_state_display()}"

    @property
    def stage(self) -> StageConfiguration:
        return self.version.configuration.stage(self.stage_key)

    def arm(self) -> ArmConfiguration | None:
        """The arm whose memory this conversation is held with, in the version that it runs under;
        None without manipulation, whatever has been allocated, and before allocation."""
        key = self.participant.arm_key() if self.manipulation else None
        return None if key is None else self.version.configuration.arm(key)

    def ends_at(self, stage: StageConfiguration) -> datetime | None:
        """Study time at which the timer closes the session, or None without a limit."""
        if stage.maximum_minutes is None:
            return None
        return self.started_at + timedelta(minutes=stage.maximum_minutes) + self.stood_still

    def minima_met_at(self, stage: StageConfiguration) -> datetime | None:
        """Study time from which the participant may finish; None while turns are missing."""
        if self.turns < stage.minimum_turns:
            return None
        return self.started_at + timedelta(minutes=stage.minimum_minutes) + self.stood_still

    def closing(self, stage: StageConfiguration) -> tuple[datetime, Closed] | None:
        """When the session closes by itself (study time) and why, as things stand.

        Its timer, the stage's window, or idleness, which counts only once the minima are met.
        None if nothing closes it, as while it is paused.
        """
        if self.paused_at is not None:
            return None
        ways: list[tuple[datetime, Closed]] = []
        ends, minima = self.ends_at(stage), self.minima_met_at(stage)
        if ends is not None:
            ways.append((ends, Closed.TIMER))
        if minima is not None:
            idle = self.last_activity_at + timedelta(minutes=stage.idle_minutes)
            ways.append((max(minima, idle), Closed.IDLE))
        if self.window_closes_at is not None:
            ways.append((self.window_closes_at + self.stood_still, Closed.WINDOW))
        return min(ways, key=lambda way: way[0], default=None)

    def pause(self, *, at: datetime) -> None:
        """Stand still from study time ``at``. The caller holds the row's lock."""
        if self.paused_at is None:
            self.paused_at = at
            self.save(update_fields=["paused_at"])

    def go_on(self, *, at: datetime) -> None:
        """End the pause: timer, minima and window are put off by its length, and idleness counts
        from now. The caller holds the row's lock."""
        if self.paused_at is not None:
            self.stood_still += max(timedelta(), at - self.paused_at)
            self.paused_at, self.last_activity_at = None, at
            self.save(update_fields=["stood_still", "paused_at", "last_activity_at"])

    def talked_for(self, *, now: datetime) -> timedelta:
        """How long the conversation has gone on, pauses left out."""
        return (self.paused_at or now) - self.started_at - self.stood_still
