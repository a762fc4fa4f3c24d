"""Which instrument a study asks when."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.enums import Moment
from experiments.models import Stage, Study
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet
from questionnaires.models.instrument import Instrument

#: Moments that belong to a stage.
STAGE_MOMENTS = (Moment.BEFORE, Moment.AFTER)


class PlacementQuerySet(TenantQuerySet["Placement"]):
    def copy(self, study: Study, copied: Study) -> None:
        """Give ``copied`` the questionnaires of ``study``, at its own stages of the same keys."""
        stages = {stage.key: stage for stage in copied.stages.all()}
        for placement in self.filter(study=study).select_related("stage"):
            if placement.stage is not None:
                placement.stage = stages[placement.stage.key]
            placement.pk, placement.study, placement._state.adding = None, copied, True
            placement.save()


class Placement(TenantModel):
    """An instrument, or an external survey, at its place in a study."""

    study = models.ForeignKey(
        Study, models.CASCADE, related_name="placements", verbose_name=_("study")
    )
    moment = models.CharField(_("when"), max_length=12, choices=Moment.choices)
    stage = models.ForeignKey(
        Stage,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="placements",
        verbose_name=_("stage"),
    )
    position = models.PositiveSmallIntegerField(_("position"), default=1)
    instrument = models.ForeignKey(
        Instrument,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="placements",
        verbose_name=_("instrument"),
    )
    external_url = models.URLField(
        _("external survey"),
        blank=True,
        help_text=_("Instead of an instrument: an address that leads back with a signature."),
    )
    half = models.BooleanField(
        _("a random half only"),
        default=False,
        help_text=_("Asking is itself an intervention: the other half is never asked."),
    )

    objects = TenantManager.from_queryset(PlacementQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("questionnaire of a study")
        verbose_name_plural = _("questionnaires of a study")
        ordering = ["stage__number", "moment", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "study", "moment", "stage", "position"],
                nulls_distinct=False,
                name="one_questionnaire_a_place",
            ),
            models.CheckConstraint(
                condition=models.Q(instrument__isnull=False, external_url="")
                | (models.Q(instrument__isnull=True) & ~models.Q(external_url="")),
                name="instrument_or_external_survey",
            ),
            models.CheckConstraint(
                condition=models.Q(moment__in=[Moment.BEFORE, Moment.AFTER], stage__isnull=False)
                | (
                    ~models.Q(moment__in=[Moment.BEFORE, Moment.AFTER])
                    & models.Q(stage__isnull=True)
                ),
                name="stage_where_the_moment_has_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_moment_display()} · {self.position}"

    def clean(self) -> None:
        """Raises ValidationError for a place or a questionnaire that doesn't fit the study."""
        of_stage = self.moment in STAGE_MOMENTS
        if of_stage and self.stage_id is None:
            raise ValidationError({"stage": _now("Choose the stage whose conversation this is.")})
        if not of_stage and self.stage_id is not None:
            raise ValidationError(
                {"stage": _now("This moment belongs to no stage: leave the stage empty.")}
            )
        if self.stage is not None and self.stage.study_id != self.study_id:
            raise ValidationError({"stage": _now("This stage belongs to another study.")})
        if (self.instrument_id is None) == (not self.external_url):
            raise ValidationError(
                _now("Choose an instrument or give the address of an external survey: one of them.")
            )
