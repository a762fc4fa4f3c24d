"""Participants, their way into a study, their consent and their clock."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from django.contrib.auth.hashers import check_password, make_password
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments import strata
from experiments.configuration import ArmConfiguration, StudyConfiguration
from experiments.consents import asked, participation_text
from experiments.destinations import destinations
from experiments.enums import Clock, ConsentKind, Exclusion, ParticipantState, SessionState
from experiments.facts import value_of
from experiments.models.returning import ReturnKey
from experiments.models.study import Study
from experiments.models.version import StudyVersion
from memlab.core.due import Due, DueKind
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

if TYPE_CHECKING:
    from experiments.models.allocation import Allocation

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
    time_zone = models.CharField(
        _("time zone"),
        max_length=64,
        blank=True,
        editable=False,
        help_text=_("As the participant's browser named it; empty: the study's."),
    )
    password = models.CharField(max_length=128, blank=True, editable=False)
    paused_at = models.DateTimeField(
        _("paused (wall time)"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("By the risk screen or by staff; nothing can be said until staff resume."),
    )
    recruiter = models.ForeignKey(
        "experiments.Recruiter",
        models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="participants",
        verbose_name=_("recruiter"),
        help_text=_("Who sent them; empty: nobody."),
    )
    exclusion = models.CharField(
        _("why not in the study"),
        max_length=16,
        choices=Exclusion.choices,
        blank=True,
        editable=False,
    )
    chat_left_at = models.DateTimeField(
        _("left the conversations (study time)"), null=True, editable=False
    )
    anonymised_at = models.DateTimeField(
        _("anonymised (wall time)"),
        null=True,
        editable=False,
        help_text=_("Nothing leads to the person any more but what they wrote themselves."),
    )
    needs_redaction = models.BooleanField(
        _("needs redaction"),
        default=False,
        editable=False,
        help_text=_("What was said has to be gone through before it is shared."),
    )
    erased_on = models.DateField(
        _("erased on"),
        null=True,
        editable=False,
        help_text=_("An empty row in place of a person whose data are gone: it is only counted."),
    )
    reminders_stopped_at = models.DateTimeField(
        _("reminders stopped (wall time)"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("By the link that every reminder holds."),
    )
    entered_at = models.DateTimeField(_("entered"), auto_now_add=True)
    # What of the entry is done, by wall time; see memlab.journey.entry.
    of_age_at = models.DateTimeField(_("said to be old enough"), null=True, editable=False)
    read_version = models.ForeignKey(
        StudyVersion,
        models.PROTECT,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("version read"),
        help_text=_("Whose information sheet was read."),
    )
    contact_asked_at = models.DateTimeField(_("asked for an address"), null=True, editable=False)
    code_seen_at = models.DateTimeField(_("saw their code"), null=True, editable=False)
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

    @property
    def shown_study(self) -> Study | StudyConfiguration:
        """By what title, in which language and zone the participant knows the study: as they
        agreed to it, whatever staff have edited since."""
        return self.study.shown() if self.version is None else self.version.configuration

    @property
    def zone(self) -> str:
        """Where the participant's times of day are read: their own zone, else their study's."""
        return self.time_zone or self.shown_study.time_zone

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

    @property
    def has_left_chat(self) -> bool:
        """Whether the participant has withdrawn, from the conversations at least: then nothing is
        said any more, and no memory is kept up."""
        return self.state == ParticipantState.WITHDRAWN or self.chat_left_at is not None

    def leave_chat(self, *, now: datetime) -> None:
        self.chat_left_at = now
        self.save(update_fields=["chat_left_at"])

    def withdraw(self) -> None:
        """Nothing that is still to come is wanted."""
        self.state = ParticipantState.WITHDRAWN
        self.save(update_fields=["state"])

    def anonymise(self, *, wall: datetime) -> None:
        """A new code and id, so that neither a link nor a code nor a browser leads here any more.

        What the participant wrote stays and may name them: it waits for redaction.
        """
        self.code, self.public_id = _code(), uuid4()
        self.password, self.time_zone = "", ""
        self.anonymised_at, self.needs_redaction = wall, True
        self.save(
            update_fields=[
                "code",
                "public_id",
                "password",
                "time_zone",
                "anonymised_at",
                "needs_redaction",
            ]
        )

    def leave_shell(self, *, wall: datetime) -> Participant:
        """An empty row that stands for this one in the study's counts once it is erased.

        It knows the study, the version that was consented to, whether it was a test run, and the
        day of the erasure, which stands for every moment that it must have.
        """
        day = wall.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        shell = Participant.objects.create(
            study_id=self.study_id,
            version_id=self.version_id,
            test_mode=self.test_mode,
            state=ParticipantState.WITHDRAWN,
            consented_at=None if self.consented_at is None else day,
            erased_on=day.date(),
        )
        Participant.objects.filter(pk=shell.pk).update(entered_at=day)
        shell.entered_at = day
        return shell

    def move_script(self, now: datetime) -> None:
        """Set a scripted clock. It never runs backwards."""
        assert self.clock == Clock.SCRIPTED
        assert self.scripted_now is not None
        if now < self.scripted_now:
            raise ValueError(f"A scripted clock can't go back from {self.scripted_now} to {now}.")
        self.scripted_now = now
        self.save(update_fields=["scripted_now"])

    # Entry

    def confirm_age(self, *, wall: datetime) -> None:
        """They say that they are old enough for the present version, whose information they read
        next, whatever they read before. The date of birth is nowhere asked."""
        self.of_age_at, self.read_version = wall, None
        self.save(update_fields=["of_age_at", "read_version"])

    def read(self, version: StudyVersion) -> None:
        """They have read this version's information sheet."""
        self.read_version = version
        self.save(update_fields=["read_version"])

    def know_time_zone(self, name: str) -> None:
        """The zone of their browser; an empty name leaves them in the study's."""
        self.time_zone = name
        self.save(update_fields=["time_zone"])

    def asked_for_contact(self, *, wall: datetime) -> None:
        self.contact_asked_at = wall
        self.save(update_fields=["contact_asked_at"])

    def saw_code(self, *, wall: datetime) -> None:
        self.code_seen_at = wall
        self.save(update_fields=["code_seen_at"])

    def hold(self) -> Participant:
        """The row as it is now, kept from others until the transaction ends: for whoever is about
        to write what leads to the person. Raises DoesNotExist if they were anonymised or erased
        meanwhile."""
        rows = Participant.objects.select_for_update(no_key=True)
        return rows.get(pk=self.pk, public_id=self.public_id)

    def turn_away(self, state: ParticipantState, exclusion: Exclusion) -> None:
        """They can't or don't want to be in the study, and why. Nothing comes after it, but that
        whoever has declined may think again."""
        row = Participant.objects.select_for_update().get(pk=self.pk)
        if row.state in (ParticipantState.INVITED, ParticipantState.ACTIVE):
            row.state, row.exclusion = state, exclusion
            row.save(update_fields=["state", "exclusion"])
        self.state, self.exclusion = row.state, row.exclusion

    def think_again(self) -> None:
        """Whoever has declined is asked once more, from the information sheet on."""
        row = Participant.objects.select_for_update().get(pk=self.pk)
        if row.state == ParticipantState.DECLINED:
            row.state, row.exclusion = ParticipantState.INVITED, ""
            row.read_version = None
            row.save(update_fields=["state", "exclusion", "read_version"])
        self.refresh_from_db()

    def set_password(self, password: str) -> None:
        """With it the code is enough to come back; an empty one takes that away."""
        self.password = make_password(password) if password else ""
        self.save(update_fields=["password"])
        if password:
            ReturnKey.objects.remember(
                lab_id=self.lab_id, participant=self.public_id, code=self.code
            )
        else:
            ReturnKey.objects.forget(self.public_id)

    def has_password(self, password: str) -> bool:
        return bool(self.password) and check_password(password, self.password)

    def give_consent(
        self,
        *,
        wall: datetime,
        version: StudyVersion | None = None,
        agreed: Mapping[ConsentKind, bool] | None = None,
    ) -> Consent:
        """Pin the version that was shown (by default the study's present one) and record what was
        agreed to, word for word. ``agreed`` answers the separate consents. Safe to repeat.

        Raises ValidationError for whoever isn't being asked any more: they have declined, withdrawn
        or been turned away, perhaps in another tab and a moment ago.
        """
        row = Participant.objects.select_for_update().get(pk=self.pk)
        existing = row.consents.filter(kind=ConsentKind.PARTICIPATION).first()
        if existing is None:
            if row.state != ParticipantState.INVITED:
                raise ValidationError(_now("This participation is over: nobody can agree to it."))
            row.version = version or row.study.version()
            row.state = ParticipantState.ACTIVE
            row.consented_at = row.study_time(wall)
            row.save(update_fields=["version", "state", "consented_at"])
            configuration = row.version.configuration
            existing = row._record_consent(
                ConsentKind.PARTICIPATION,
                participation_text(configuration, destinations(configuration)),
                agreed=True,
            )
            for statement in asked(configuration):
                if agreed is not None and statement.kind in agreed:
                    row._record_consent(
                        statement.kind, statement.text, agreed=agreed[statement.kind]
                    )
            row.follow_windows_at(row.consented_at)
        self.refresh_from_db()
        return existing

    def _record_consent(self, kind: ConsentKind, text: str, *, agreed: bool) -> Consent:
        return Consent.objects.create(
            lab_id=self.lab_id,
            participant=self,
            kind=kind,
            agreed=agreed,
            version=self.version,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            agreed_at=self.consented_at,
        )

    # Allocation

    def levels(self) -> dict[str, str]:
        """The participant's level of each factor that the study balances, as answered so far."""
        if self.version is None:
            return {}
        return {
            factor.name: factor.level(value_of(self, factor.source))
            for factor in strata.factors(self.version.configuration.entry.strata)
        }

    def conclude(self, end: ParticipantState) -> None:
        """Nothing more comes for whoever was on their way. The caller holds the row lock."""
        assert self.state == ParticipantState.ACTIVE, "Only who is on their way comes to an end."
        self.state = end
        self.save(update_fields=["state"])

    @property
    def refuses_use(self) -> bool:
        """Whether the participant, once debriefed, wants their data not to be used."""
        return bool(Consent.objects.refusing_use().filter(participant=self).exists())

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
        allocation = self.allocations.first()
        if allocation is None or self.version is None:
            return None
        return self.version.configuration.arm(allocation.arm_key)


class ConsentQuerySet(TenantQuerySet["Consent"]):
    def refusing_use(self) -> ConsentQuerySet:
        """The answers of those who, once debriefed, want their data not to be used. Whatever makes
        results of a study leaves out their participants, or says that it doesn't."""
        return self.filter(kind=ConsentKind.DEBRIEFED, agreed=False)


class Consent(TenantModel):
    """What was asked and answered, word for word: one row of each kind."""

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="consents", verbose_name=_("participant")
    )
    kind = models.CharField(
        _("kind"),
        max_length=16,
        choices=ConsentKind.choices,
        default=ConsentKind.PARTICIPATION,
    )
    agreed = models.BooleanField(_("agreed"), default=True)
    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    text = models.TextField(_("text"))
    sha256 = models.CharField("SHA-256", max_length=64)
    agreed_at = models.DateTimeField(_("agreed at (study time)"))
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(ConsentQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("consent")
        verbose_name_plural = _("consents")
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "kind"], name="one_consent_of_a_kind"
            )
        ]

    def __str__(self) -> str:
        return f"{self.participant_id} {self.sha256[:8]}"
