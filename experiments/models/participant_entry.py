"""A participant's way into a study: what they have said, read and agreed to so far."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.contrib.auth.hashers import check_password, make_password
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.consents import asked, participation_text
from experiments.destinations import destinations
from experiments.enums import ConsentKind, Exclusion, ParticipantState
from experiments.models.participant_clock import ParticipantClock
from experiments.models.returning import ReturnKey
from experiments.models.version import StudyVersion

if TYPE_CHECKING:
    from experiments.models.consent import Consent


class ParticipantEntry(ParticipantClock):
    """The part of ``Participant`` from the door to the consent; see ``memlab.journey.entry``."""

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
    # What of the entry is done, by wall time.
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

    class Meta(ParticipantClock.Meta):
        abstract = True

    def confirm_age(self, *, wall: datetime) -> None:
        """They say that they are old enough for the present version, whose information they read
        next, whatever they read before. The date of birth is nowhere asked."""
        self.of_age_at, self.read_version = wall, None
        self.save(update_fields=["of_age_at", "read_version"])

    def read(self, version: StudyVersion) -> None:
        """They have read this version's information sheet."""
        self.read_version = version
        self.save(update_fields=["read_version"])

    def asked_for_contact(self, *, wall: datetime) -> None:
        self.contact_asked_at = wall
        self.save(update_fields=["contact_asked_at"])

    def saw_code(self, *, wall: datetime) -> None:
        self.code_seen_at = wall
        self.save(update_fields=["code_seen_at"])

    def hold(self) -> Self:
        """The row as it is now, kept from others until the transaction ends: for whoever is about
        to write what leads to the person. Raises DoesNotExist if they were anonymised or erased
        meanwhile."""
        rows = type(self)._default_manager.select_for_update(no_key=True)
        return rows.get(pk=self.pk, public_id=self.public_id)

    def turn_away(self, state: ParticipantState, exclusion: Exclusion) -> None:
        """They can't or don't want to be in the study, and why. Nothing comes after it, but that
        whoever has declined may think again."""
        row = type(self)._default_manager.select_for_update().get(pk=self.pk)
        if row.state in (ParticipantState.INVITED, ParticipantState.ACTIVE):
            row.state, row.exclusion = state, exclusion
            row.save(update_fields=["state", "exclusion"])
        self.state, self.exclusion = row.state, row.exclusion

    def think_again(self) -> None:
        """Whoever has declined is asked once more, from the information sheet on."""
        row = type(self)._default_manager.select_for_update().get(pk=self.pk)
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
        row = type(self)._default_manager.select_for_update().get(pk=self.pk)
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
        recorded: Consent = self.consents.create(
            lab_id=self.lab_id,
            kind=kind,
            agreed=agreed,
            version=self.version,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            agreed_at=self.consented_at,
        )
        return recorded
