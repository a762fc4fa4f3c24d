"""What a participant was asked to agree to, and what they answered."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import ConsentKind
from experiments.models.participant import Participant
from experiments.models.version import StudyVersion
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


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
