"""What became of a stage's window: extensions by staff, and stages that were lost."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import Lost
from experiments.models.participant import Participant
from experiments.schedule import OverMark, Standing
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


class Extension(TenantModel):
    """A stage may be begun by one participant until ``until``; the latest such moment counts."""

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="extensions", verbose_name=_("participant")
    )
    stage_key = models.CharField(_("stage"), max_length=20)
    until = models.DateTimeField(_("until (study time)"))
    reason = models.CharField(_("reason"), max_length=200)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", verbose_name=_("by")
    )
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("extension")
        verbose_name_plural = _("extensions")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.stage_key} · {self.until:%Y-%m-%d %H:%M}"


class WindowMarkQuerySet(TenantQuerySet["WindowMark"]):
    def standing(self) -> WindowMarkQuerySet:
        """Those that no extension has lifted."""
        return self.filter(lifted_by=None)

    def note(self, participant: Participant, stage_key: str, mark: OverMark) -> bool:
        """Write down that a stage was lost; False if that stands there already."""
        _row, written = self.get_or_create(
            participant=participant,
            stage_key=stage_key,
            lifted_by=None,
            defaults={"lost": Lost(str(mark.standing)), "at": mark.at},
        )
        return written

    def lift(
        self, participant: Participant, stage_keys: Sequence[str], extension: Extension
    ) -> None:
        """These stages can be begun after all: their marks stay for the record and count no
        more."""
        self.standing().filter(participant=participant, stage_key__in=stage_keys).update(
            lifted_by=extension
        )


class WindowMark(TenantModel):
    """A stage that a participant missed or didn't finish, at the study time when it was over.

    Written once, by whoever notices first. From then on it stands, even if the participant's zone
    changes; only an extension lifts it.
    """

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="window_marks", verbose_name=_("participant")
    )
    stage_key = models.CharField(_("stage"), max_length=20)
    lost = models.CharField(_("how"), max_length=8, choices=Lost.choices)
    at = models.DateTimeField(_("at (study time)"))
    lifted_by = models.ForeignKey(
        Extension,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("lifted by"),
    )
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(WindowMarkQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("lost stage")
        verbose_name_plural = _("lost stages")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "stage_key"],
                condition=models.Q(lifted_by=None),
                name="one_standing_mark_a_stage",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage_key} · {self.get_lost_display()}"

    def as_mark(self) -> OverMark:
        return OverMark(standing=Standing(self.lost), at=self.at)
