"""A participant's study time: how it runs, where it is read, and what it is awaited for."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.enums import Clock, SessionState
from experiments.models.participant_row import ParticipantRow
from memlab.core.due import Due, DueKind

if TYPE_CHECKING:
    from experiments.configuration import StudyConfiguration
    from experiments.models.study import Study


class ParticipantClock(ParticipantRow):
    """The part of ``Participant`` that knows study time and what is due by it."""

    clock = models.CharField(
        max_length=8, choices=Clock.choices, default=Clock.LIVE, editable=False
    )
    clock_offset = models.DurationField(
        _("clock offset"),
        default=timedelta,
        editable=False,
        help_text=_("Study time runs ahead of the wall clock by this much."),
    )
    scripted_now = models.DateTimeField(null=True, editable=False)

    class Meta(ParticipantRow.Meta):
        abstract = True

    def study_time(self, wall: datetime) -> datetime:
        """Study time at a wall time: the script's, or live plus the offset."""
        if self.clock == Clock.SCRIPTED:
            assert self.scripted_now is not None
            return self.scripted_now
        return wall + self.clock_offset

    def wall_time(self, study: datetime) -> datetime | None:
        """When a study time comes on the wall clock; None where the clock is scripted."""
        return None if self.clock == Clock.SCRIPTED else study - self.clock_offset

    def skip(self, gap: timedelta) -> None:
        """Move a test run's study time forward, with everything that is due.

        Raises ValidationError for a real participant, backwards, or in mid-session.
        """
        if not self.test_mode or self.clock != Clock.LIVE:
            raise ValidationError(_now("Only a test run can skip days."))
        if gap <= timedelta():
            raise ValidationError(_now("Study time only moves forward."))
        if self.sessions.filter(state__in=[SessionState.OPEN, SessionState.CLOSING]).exists():
            raise ValidationError(_now("Finish the open conversation before skipping days."))
        self.clock_offset += gap
        self.save(update_fields=["clock_offset"])
        subjects = [
            self.public_id,
            *self.reminders.filter(state="planned").values_list("id", flat=True),
        ]
        for due in Due.objects.filter(subject__in=subjects, wall_at__isnull=False):
            if due.study_at is not None:
                due.wall_at = due.study_at - self.clock_offset
                due.save(update_fields=["wall_at"])
        if self.consented_at is not None:
            self.follow_windows_at(self.consented_at)

    def move_script(self, now: datetime) -> None:
        """Set a scripted clock. It never runs backwards."""
        assert self.clock == Clock.SCRIPTED
        assert self.scripted_now is not None
        if now < self.scripted_now:
            raise ValueError(f"A scripted clock can't go back from {self.scripted_now} to {now}.")
        self.scripted_now = now
        self.save(update_fields=["scripted_now"])

    @property
    def shown_study(self) -> Study | StudyConfiguration:
        """By what title, in which language and zone the participant knows the study: as they
        agreed to it, whatever staff have edited since."""
        return self.study.shown() if self.version is None else self.version.configuration

    @property
    def zone(self) -> str:
        """Where the participant's times of day are read: their own zone, else their study's."""
        return self.time_zone or self.shown_study.time_zone

    def know_time_zone(self, name: str) -> None:
        """The zone of their browser; an empty name leaves them in the study's."""
        self.time_zone = name
        self.save(update_fields=["time_zone"])

    def follow_windows_at(self, moment: datetime | None) -> None:
        """Keep the one due row of the participant's windows at the study time at which the next one
        opens or closes; a moment that is past has them looked at within a minute. Nothing is
        planned where the clock is scripted: a replay enters its stages itself."""
        if self.clock == Clock.SCRIPTED:
            return
        row: dict[str, Any] = {
            "lab_id": self.lab_id, "kind": DueKind.WINDOW, "subject": self.public_id
        }  # fmt: skip
        if moment is None:
            Due.objects.settle(**row)
        else:
            Due.objects.plan(**row, study_at=moment, wall_at=self.wall_time(moment))

    def maintain_at(self, moment: datetime | None) -> None:
        """Keep the memory's one due row at the study time at which time next changes it; None if
        it never does. The caller holds the row lock, so that nobody skips days meanwhile."""
        row = self._maintenance()
        if moment is None:
            Due.objects.settle(**row)
        else:
            Due.objects.plan(**row, study_at=moment, wall_at=self.wall_time(moment))

    def _maintenance(self) -> dict[str, Any]:
        return {"lab_id": self.lab_id, "kind": DueKind.MAINTAIN, "subject": self.public_id}
