"""Participants: who they are in a study, and how it stands with them.

Their fields and what is done with them are in four parts: what all of them know
(``participant_row``), study time (``participant_clock``), the way in (``participant_entry``)
and the way out (``participant_leaving``).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments import strata
from experiments.configuration import ArmConfiguration
from experiments.enums import ParticipantState
from experiments.facts import value_of
from experiments.models.participant_entry import ParticipantEntry
from experiments.models.participant_leaving import ParticipantLeaving
from experiments.models.participant_row import ParticipantRow
from experiments.models.version import StudyVersion
from experiments.participant_codes import new_code

if TYPE_CHECKING:
    from experiments.models.allocation import Allocation


_code = new_code  # by this name migrations know it


class Participant(ParticipantEntry, ParticipantLeaving):
    """A person in one study, known by a random code."""

    paused_at = models.DateTimeField(
        _("paused (wall time)"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("By the risk screen or by staff; nothing can be said until staff resume."),
    )
    reminders_stopped_at = models.DateTimeField(
        _("reminders stopped (wall time)"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("By the link that every reminder holds."),
    )

    class Meta(ParticipantRow.Meta):
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "public_id"], name="participant_public_id"),
            models.UniqueConstraint(fields=["lab", "code"], name="participant_code_in_lab"),
            models.CheckConstraint(
                condition=models.Q(clock="live") | models.Q(scripted_now__isnull=False),
                name="scripted_clock_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return self.code

    def conclude(self, end: ParticipantState) -> None:
        """Nothing more comes for whoever was on their way. The caller holds the row lock."""
        assert self.state == ParticipantState.ACTIVE, "Only who is on their way comes to an end."
        self.state = end
        self.save(update_fields=["state"])

    def take_up_again(self) -> None:
        """Whoever had dropped out is on their way again: staff have reopened what they missed. The
        caller holds the row lock."""
        if self.state == ParticipantState.DROPPED_OUT:
            self.state = ParticipantState.ACTIVE
            self.save(update_fields=["state"])

    def stop_reminders(self, *, wall: datetime) -> None:
        """No more reminders for this participant. Safe to repeat."""
        if self.reminders_stopped_at is None:
            self.reminders_stopped_at = wall
            self.save(update_fields=["reminders_stopped_at"])

    def pause(self, *, wall: datetime) -> bool:
        """Let nothing be said until staff resume; False if that is so already."""
        changed = type(self).objects.filter(pk=self.pk, paused_at=None).update(paused_at=wall)
        self.refresh_from_db(fields=["paused_at"])
        return bool(changed)

    def resume(self) -> bool:
        """Let the participant go on; False if they weren't paused."""
        paused = type(self).objects.filter(pk=self.pk, paused_at__isnull=False)
        changed = paused.update(paused_at=None)
        self.paused_at = None
        return bool(changed)

    @property
    def refuses_use(self) -> bool:
        """Whether the participant, once debriefed, wants their data not to be used."""
        return bool(self.consents.refusing_use().exists())

    # Allocation

    def levels(self) -> dict[str, str]:
        """The participant's level of each factor that the study balances, as answered so far."""
        if self.version is None:
            return {}
        return {
            factor.name: factor.level(value_of(self, factor.source))
            for factor in strata.factors(self.version.configuration.entry.strata)
        }

    @property
    def stratum(self) -> str:
        return strata.stratum(self.levels())

    def allocate(self, *, study_at: datetime) -> Allocation:
        """The participant's arm, drawn once. Test runs have a sequence of their own."""
        assert self.version is not None, "An arm is drawn after consent."
        Participant.objects.select_for_update().get(pk=self.pk)
        existing = self.allocations.first()
        if existing is not None:
            return existing
        return self.allocations.model.objects.draw(participant=self, study_at=study_at)

    def fits(self, version: StudyVersion) -> bool:
        """Whether they could agree to this version: an arm that was chosen for a test run before
        its consent may have left the study since."""
        keys = {arm.key for arm in version.configuration.arms}
        return all(row.arm_key in keys for row in self.allocations.all())

    def arm(self) -> ArmConfiguration | None:
        """The arm in the frozen configuration, or None before allocation."""
        key = self.arm_key()
        if key is None or self.version is None:
            return None
        return self.version.configuration.arm(key)

    def arm_key(self) -> str | None:
        """The key of the arm that was drawn, or None before allocation."""
        key: str | None = self.allocations.values_list("arm_key", flat=True).first()
        return key
