"""Participants, their consent, their clock and their allocation."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.allocation import permuted_block
from experiments.configuration import ArmConfiguration
from experiments.enums import Clock, ParticipantState, SessionState
from experiments.models.study import Study
from experiments.models.version import StudyVersion
from memlab.core.due import Due, DueKind
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

# Without vowels and look-alikes: read out over the telephone, never a word.
CODE_ALPHABET = "23456789BCDFGHJKMNPQRSTVWXZ"


def _code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(7))


class Participant(TenantModel):
    """A person in one study, known by a random code."""

    public_id = models.UUIDField(default=uuid4, editable=False)
    code = models.CharField(_("code"), max_length=12, default=_code, editable=False)
    study = models.ForeignKey(
        Study, models.PROTECT, related_name="participants", verbose_name=_("study")
    )
    version = models.ForeignKey(
        StudyVersion,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("version"),
        help_text=_("Pinned at consent."),
    )
    state = models.CharField(
        _("state"),
        max_length=10,
        choices=ParticipantState.choices,
        default=ParticipantState.INVITED,
    )
    test_mode = models.BooleanField(_("test run"), default=False, editable=False)
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
    entered_at = models.DateTimeField(_("entered"), auto_now_add=True)
    consented_at = models.DateTimeField(_("consented (study time)"), null=True, editable=False)

    class Meta(TenantModel.Meta):
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
        for due in Due.objects.filter(subject=self.public_id, wall_at__isnull=False):
            if due.study_at is not None:
                due.wall_at = due.study_at - self.clock_offset
                due.save(update_fields=["wall_at"])

    def maintain_at(self, moment: datetime | None) -> None:
        """Keep the memory's one due row at the study time at which time next changes it; None if
        it never does. The caller holds the row lock, so that nobody skips days meanwhile."""
        row = self._maintenance()
        if moment is None:
            Due.objects.settle(**row)
        else:
            Due.objects.plan(**row, study_at=moment, wall_at=self.wall_time(moment))

    def maintain_by(self, moment: datetime) -> None:
        """Have the memory looked after at ``moment`` at the latest: for whoever changes it outside
        of its phases, such as staff who edit it."""
        locked = type(self).objects.select_for_update(no_key=True).get(pk=self.pk)
        due = Due.objects.locked(**self._maintenance())
        if due is None or due.study_at is None or due.study_at > moment:
            locked.maintain_at(moment)

    def _maintenance(self) -> dict[str, Any]:
        return {"lab_id": self.lab_id, "kind": DueKind.MAINTAIN, "subject": self.public_id}

    def move_script(self, now: datetime) -> None:
        """Set a scripted clock. It never runs backwards."""
        assert self.clock == Clock.SCRIPTED
        assert self.scripted_now is not None
        if now < self.scripted_now:
            raise ValueError(f"A scripted clock can't go back from {self.scripted_now} to {now}.")
        self.scripted_now = now
        self.save(update_fields=["scripted_now"])

    def give_consent(self, *, wall: datetime) -> Consent:
        """Pin the study's present version and record what was agreed to. Safe to repeat."""
        row = Participant.objects.select_for_update().get(pk=self.pk)
        existing = row.consents.first()
        if existing is None:
            row.version = row.study.version()
            row.state = ParticipantState.ACTIVE
            row.consented_at = row.study_time(wall)
            row.save(update_fields=["version", "state", "consented_at"])
            configuration = row.version.configuration
            text = f"{configuration.information}\n\n{configuration.consent}"
            existing = Consent.objects.create(
                lab_id=row.lab_id,
                participant=row,
                version=row.version,
                text=text,
                sha256=hashlib.sha256(text.encode()).hexdigest(),
                agreed_at=row.consented_at,
            )
        self.refresh_from_db()
        return existing

    @property
    def stratum(self) -> str:
        return "all"

    def allocate(self, *, study_at: datetime) -> Allocation:
        """The participant's arm, drawn once. Test runs have a sequence of their own."""
        assert self.version is not None, "An arm is drawn after consent."
        Participant.objects.select_for_update().get(pk=self.pk)
        existing = Allocation.objects.filter(participant=self).first()
        if existing is not None:
            return existing
        return Allocation.objects.draw(participant=self, study_at=study_at)

    def arm(self) -> ArmConfiguration | None:
        """The arm in the frozen configuration, or None before allocation."""
        allocation = Allocation.objects.filter(participant=self).first()
        if allocation is None or self.version is None:
            return None
        return self.version.configuration.arm(allocation.arm_key)


class Consent(TenantModel):
    """What was agreed to, word for word."""

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="consents", verbose_name=_("participant")
    )
    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    text = models.TextField(_("text"))
    sha256 = models.CharField("SHA-256", max_length=64)
    agreed_at = models.DateTimeField(_("agreed at (study time)"))
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("consent")
        verbose_name_plural = _("consents")
        constraints = [
            models.UniqueConstraint(fields=["lab", "participant"], name="one_consent_a_participant")
        ]

    def __str__(self) -> str:
        return f"{self.participant_id} {self.sha256[:8]}"


class AllocationCounter(TenantModel):
    """How far a stratum's sequence is used up. Real and test runs are counted apart."""

    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    stratum = models.CharField(_("stratum"), max_length=120)
    test_mode = models.BooleanField(_("test run"), default=False)
    used = models.PositiveIntegerField(_("used"), default=0)
    block = models.PositiveIntegerField(_("block"), default=0)
    place = models.PositiveIntegerField(_("next place in the block"), default=0)

    class Meta(TenantModel.Meta):
        verbose_name = _("allocation counter")
        verbose_name_plural = _("allocation counters")
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "version", "stratum", "test_mode"], name="one_counter_a_stratum"
            )
        ]

    def __str__(self) -> str:
        return f"{self.stratum}: {self.used}"

    def advance(self, block_size: int) -> None:
        """Use up one place; after the last one of a block comes the next block."""
        self.used += 1
        self.place += 1
        if self.place == block_size:
            self.block, self.place = self.block + 1, 0
        self.save(update_fields=["used", "block", "place"])


class AllocationQuerySet(TenantQuerySet["Allocation"]):
    def draw(self, *, participant: Participant, study_at: datetime) -> Allocation:
        """Take the next place of the participant's stratum, under a lock on its counter."""
        version = participant.version
        assert version is not None
        where = {
            "version": version,
            "stratum": participant.stratum,
            "test_mode": participant.test_mode,
        }
        AllocationCounter.objects.get_or_create(**where)
        counter = AllocationCounter.objects.select_for_update().get(**where)
        arms = self._block(participant, version, counter.block)
        allocation = self.create(
            participant=participant,
            arm_key=arms[counter.place],
            position=counter.used,
            block=counter.block,
            block_size=len(arms),
            study_at=study_at,
            **where,
        )
        counter.advance(len(arms))
        return allocation

    @staticmethod
    def _block(participant: Participant, version: StudyVersion, number: int) -> tuple[str, ...]:
        configuration = version.configuration
        run = "test" if participant.test_mode else "real"
        return permuted_block(
            number,
            seed=f"{participant.study.allocation_seed}:{version.sha256}:{run}",
            stratum=participant.stratum,
            weights={arm.key: arm.weight for arm in configuration.arms},
            multiples=configuration.block_multiples,
        )


class Allocation(TenantModel):
    """One participant's arm and the place in the sequence it came from."""

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="allocations", verbose_name=_("participant")
    )
    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    arm_key = models.CharField(_("arm"), max_length=40)
    stratum = models.CharField(_("stratum"), max_length=120)
    test_mode = models.BooleanField(_("test run"), default=False)
    position = models.PositiveIntegerField(_("position"))
    block = models.PositiveIntegerField(_("block"))
    block_size = models.PositiveIntegerField(_("block size"))
    study_at = models.DateTimeField(_("allocated at (study time)"))
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(AllocationQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("allocation")
        verbose_name_plural = _("allocations")
        constraints = [
            models.UniqueConstraint(fields=["lab", "participant"], name="one_arm_a_participant"),
            models.UniqueConstraint(
                fields=["lab", "version", "stratum", "test_mode", "position"],
                name="a_slot_is_used_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participant_id} → {self.arm_key}"
