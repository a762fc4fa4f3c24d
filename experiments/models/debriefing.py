"""That a participant was shown the debriefing, and which text it was."""

from __future__ import annotations

import hashlib
from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import ConsentKind
from experiments.models.consent import Consent
from experiments.models.participant import Participant
from experiments.models.version import StudyVersion
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


def text_hash(text: str) -> str:
    """SHA-256 of a text, as consents and debriefings keep it."""
    return hashlib.sha256(text.encode()).hexdigest()


class DebriefingQuerySet(TenantQuerySet["DebriefingView"]):
    def record(self, participant: Participant, *, now: datetime) -> DebriefingView:
        """The text of the participant's version is being shown: kept once, the first time."""
        version = participant.version
        assert version is not None, "A debriefing belongs to the version of the consent."
        view, _made = self.get_or_create(
            participant=participant,
            defaults={
                "version": version,
                "sha256": text_hash(version.configuration.debriefing.text),
                "shown_at": now,
            },
        )
        return view


class DebriefingView(TenantModel):
    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="debriefings", verbose_name=_("participant")
    )
    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    sha256 = models.CharField("SHA-256", max_length=64)
    shown_at = models.DateTimeField(_("shown (study time)"))
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(DebriefingQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("debriefing that was shown")
        verbose_name_plural = _("debriefings that were shown")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "participant"], name="debriefed_once")
        ]

    def __str__(self) -> str:
        return f"{self.participant} {self.sha256[:8]}"


def answer_debriefing(participant: Participant, *, agreed: bool, now: datetime) -> Consent:
    """Keep whether the data may be used now that the purpose is known; the first answer stays.

    A refusal is the mark on the data: ``Consent`` of kind DEBRIEFED with ``agreed`` false.
    """
    version = participant.version
    assert version is not None
    text = version.configuration.debriefing.consent
    consent, _made = Consent.objects.get_or_create(
        participant=participant,
        kind=ConsentKind.DEBRIEFED,
        defaults={
            "agreed": agreed,
            "version": version,
            "text": text,
            "sha256": text_hash(text),
            "agreed_at": now,
        },
    )
    assert isinstance(consent, Consent)
    return consent
