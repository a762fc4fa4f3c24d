"""Deviations from the protocol: whatever was done by hand, or went otherwise than frozen, in a
study that runs. Append-only; it goes out with the data."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import DeviationKind
from experiments.models.participant import Participant
from experiments.models.session import Session
from experiments.models.study import Study
from memlab.core.clock import wall_now
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

if TYPE_CHECKING:
    from experiments.rights import Viewer

#: Kinds whose presence tells something of the arm: only some memories can be edited or fail, and
#: only an arm's memory has steps. Rows of these kinds are for whoever is unblinded.
OF_AN_ARM = frozenset(
    {
        DeviationKind.MEMORY_EDITED,
        DeviationKind.STEP_RESTARTED,
        DeviationKind.CONSOLIDATED,
        DeviationKind.MODEL_FALLBACK,
        DeviationKind.DEGRADED_TURN,
        DeviationKind.ALLOCATED_BY_HAND,
    }
)


class DeviationQuerySet(TenantQuerySet["Deviation"]):
    def record(
        self,
        kind: DeviationKind,
        *,
        study: Study | int,
        participant: Participant | None = None,
        session: Session | None = None,
        user_id: int | None = None,
        study_at: datetime | None = None,
        **details: Any,
    ) -> Deviation:
        """Write one row for the active lab, in the transaction of what deviates.

        ``details`` must be JSON and hold ids and numbers, never what somebody said. Study time is
        the participant's present one unless it is given.
        """
        wall = wall_now()
        if study_at is None and participant is not None:
            study_at = participant.study_time(wall)
        return self.create(
            kind=kind,
            study_id=study if isinstance(study, int) else study.pk,
            participant=participant,
            session=session,
            user_id=user_id,
            at=wall,
            study_at=study_at,
            details=details,
        )

    def seen_by(self, viewer: Viewer) -> DeviationQuerySet:
        """All rows but those that tell something of an arm that the viewer is blinded to."""
        unblinded = viewer.evidence("participant")
        if viewer.member.may_unblind:
            unblinded |= models.Q(study_id__in=viewer.studies)
        return self.filter(~models.Q(kind__in=OF_AN_ARM) | unblinded)


class Deviation(TenantModel):
    """One deviation: of a study, and where it concerns one, of a participant and a session."""

    study = models.ForeignKey(
        Study, models.PROTECT, related_name="deviations", verbose_name=_("study")
    )
    participant = models.ForeignKey(
        Participant,
        models.PROTECT,
        null=True,
        related_name="deviations",
        verbose_name=_("participant"),
    )
    session = models.ForeignKey(
        Session, models.PROTECT, null=True, related_name="+", verbose_name=_("session")
    )
    kind = models.CharField(_("kind"), max_length=24, choices=DeviationKind.choices)
    details = models.JSONField(_("details"), default=dict)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(_("at"))
    study_at = models.DateTimeField(_("at (study time)"), null=True)

    objects = TenantManager.from_queryset(DeviationQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("deviation")
        verbose_name_plural = _("deviations from the protocol")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["lab", "study", "kind"], name="deviation_of_study")]

    def __str__(self) -> str:
        return str(self.get_kind_display())
