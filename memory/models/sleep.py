"""Runs of sleep consolidation, with what they found."""

from __future__ import annotations

from uuid import UUID, uuid5

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet
from memory.enums import SleepTrigger


def sleep_id(*, participant: UUID, first_turn: UUID) -> UUID:
    """A logged turn is consumed once, so the first one that a run consumes names the run."""
    return uuid5(participant, f"sleep:{first_turn}")


class SleepRunQuerySet(TenantQuerySet["SleepRun"]):
    def of_participant(self, participant_id: int) -> SleepRunQuerySet:
        return self.filter(participant_id=participant_id).order_by("at", "pk")


class SleepRun(TenantModel):
    """One sleep and its statistics over the turns that it kept. Written once, never changed.

    Means and peaks are null if down-sampling left no turn.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    participant = models.ForeignKey(
        "experiments.Participant",
        models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("participant"),
    )
    at = models.DateTimeField(_("at (study time)"))
    trigger = models.CharField(_("set off by"), max_length=12, choices=SleepTrigger.choices)
    turns = models.PositiveIntegerField(_("turns"))
    kept = models.PositiveIntegerField(_("turns counted"))
    mean_reward = models.FloatField(_("mean reward error"), null=True)
    mean_threat = models.FloatField(_("mean threat error"), null=True)
    peak_reward = models.FloatField(_("peak reward error"), null=True)
    peak_threat = models.FloatField(_("peak threat error"), null=True)
    high_impact_seconds = models.FloatField(_("time of high impact, in seconds"))
    mu_reward = models.FloatField(_("slow variable of reward"))
    mu_threat = models.FloatField(_("slow variable of threat"))
    wall_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(SleepRunQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("sleep")
        verbose_name_plural = _("sleeps")
        ordering = ["at", "id"]
        indexes = [models.Index(fields=["lab", "participant", "at"], name="sleep_of_participant")]

    def __str__(self) -> str:
        return f"{self.get_trigger_display()} · {self.at:%Y-%m-%d %H:%M}"
