"""Whether a study's models answer: what each was asked last, and what came back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.configuration import DoorChoice
from experiments.enums import DoorUse
from experiments.models.key import ProviderKey
from experiments.models.study import Study
from memlab.core.clock import wall_now
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

if TYPE_CHECKING:
    from datetime import datetime

#: For how long an answer says something about the model.
FRESH = timedelta(days=1)


class DoorProbeQuerySet(TenantQuerySet["DoorProbe"]):
    def last(  # type: ignore[override]
        self, study: Study, use: DoorUse, choice: DoorChoice
    ) -> DoorProbe | None:
        """The newest probe of exactly this model with this key, or None."""
        return self.filter(
            study=study, use=use, provider=choice.provider, model=choice.model, key_id=choice.key
        ).first()


class DoorProbe(TenantModel):
    """One real call through a door, made for the launch checklist."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="probes", verbose_name=_("study"))
    use = models.CharField(_("use"), max_length=12, choices=DoorUse.choices)
    provider = models.CharField(_("provider"), max_length=32)
    model = models.CharField(_("model"), max_length=120)
    key = models.ForeignKey(
        ProviderKey, models.SET_NULL, null=True, related_name="+", verbose_name=_("key")
    )
    answered = models.BooleanField(_("answered"))
    answered_model = models.CharField(_("model that answered"), max_length=200, blank=True)
    failure = models.CharField(_("failure"), max_length=400, blank=True)
    milliseconds = models.FloatField(_("milliseconds"))
    at = models.DateTimeField(_("at"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    objects = TenantManager.from_queryset(DoorProbeQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("call to a model")
        verbose_name_plural = _("calls to models for launch")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.provider} · {self.model}"

    def is_fresh(self, wall: datetime | None = None) -> bool:
        return (wall or wall_now()) - self.at < FRESH
