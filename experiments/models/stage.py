"""A stage: one conversation of the protocol, with its window, durations and minima."""

from __future__ import annotations

from datetime import time

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.configuration import StageConfiguration
from experiments.models.study import Study
from memlab.core.tenancy.models import TenantModel


class Stage(TenantModel):
    study = models.ForeignKey(Study, models.CASCADE, related_name="stages")
    number = models.PositiveSmallIntegerField(_("number"), validators=[MinValueValidator(1)])
    key = models.SlugField(_("key"), max_length=20)
    title = models.CharField(_("title"), max_length=120)
    briefing = models.TextField(
        _("instructions to the participant"),
        blank=True,
        help_text=_("Shown above the conversation; the same in all arms."),
    )
    instructions = models.TextField(
        _("instructions to the assistant"),
        blank=True,
        help_text=_("What this conversation is for; the same in all arms."),
    )
    opening_line = models.TextField(_("opening line"), blank=True)
    topics = models.JSONField(_("topics"), default=list, blank=True)
    minimum_gap_hours = models.FloatField(
        _("minimum gap, hours"),
        default=0,
        validators=[MinValueValidator(0)],
        help_text=_("Since the stage before ended. A stage never opens early."),
    )
    window_hours = models.FloatField(
        _("window, hours"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0.1)],
        help_text=_("How long the stage stays open; empty: without end."),
    )
    minimum_minutes = models.FloatField(_("minimum minutes"), default=0)
    maximum_minutes = models.FloatField(_("maximum minutes"), null=True, blank=True, default=15)
    minimum_turns = models.PositiveSmallIntegerField(_("minimum turns"), default=0)
    maximum_turns = models.PositiveSmallIntegerField(_("maximum turns"), null=True, blank=True)
    idle_minutes = models.FloatField(
        _("idle minutes"),
        default=30,
        help_text=_("Once the minima are met, so much silence closes the session."),
    )
    opens_at = models.TimeField(
        _("opens at"),
        null=True,
        blank=True,
        help_text=_("Time of day in the participant's zone to which the opening is put off."),
    )
    closes_at = models.TimeField(
        _("closes at"),
        null=True,
        blank=True,
        help_text=_("Time of day in the participant's zone to which the end is put off."),
    )
    finish_hours = models.FloatField(
        _("hours to finish"),
        default=24,
        validators=[MinValueValidator(0)],
        help_text=_("Beyond the window, for whoever has started."),
    )
    reminder_hours = models.JSONField(
        _("reminders, hours after opening"),
        default=list,
        blank=True,
        help_text=_("E.g. [0, 24, 48]; empty for none."),
    )
    payment = models.DecimalField(
        _("payment"),
        max_digits=8,
        decimal_places=2,
        default=0,
        validators=[MinValueValidator(0)],
        help_text=_("For this stage, in the study's currency."),
    )
    manipulation = models.BooleanField(
        _("memory manipulation active"),
        default=True,
        help_text=_("Off: everybody gets the same prompt, without any memory."),
    )

    class Meta(TenantModel.Meta):
        verbose_name = _("stage")
        verbose_name_plural = _("stages")
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "study", "number"], name="stage_number_in_study"
            ),
            models.UniqueConstraint(fields=["lab", "study", "key"], name="stage_key_in_study"),
        ]

    def __str__(self) -> str:
        return f"{self.key} · {self.title}"

    def clean(self) -> None:
        maximum = self.maximum_minutes
        if maximum is not None and maximum < self.minimum_minutes:
            raise ValidationError(
                {"maximum_minutes": _now("The maximum is shorter than the minimum.")}
            )
        if self.maximum_turns is not None and self.maximum_turns < self.minimum_turns:
            raise ValidationError({"maximum_turns": _now("Fewer than the minimum of turns.")})
        if not all(isinstance(topic, str) for topic in self.topics):
            raise ValidationError({"topics": _now("A list of texts.")})
        if not all(type(hours) in (int, float) and hours >= 0 for hours in self.reminder_hours):
            raise ValidationError(
                {"reminder_hours": _now("A list of numbers from 0, e.g. [0, 24, 48].")}
            )

    def configuration(self) -> StageConfiguration:
        return StageConfiguration(
            **{
                name: getattr(self, name)
                for name in StageConfiguration.__dataclass_fields__
                if name not in _FORMED
            },
            topics=tuple(self.topics),
            opens_at=_time(self.opens_at),
            closes_at=_time(self.closes_at),
            reminder_hours=tuple(float(hours) for hours in self.reminder_hours),
            payment=str(self.payment),
        )


#: Fields that a frozen stage holds in another form.
_FORMED = {"topics", "opens_at", "closes_at", "reminder_hours", "payment"}


def _time(moment: time | None) -> str:
    return "" if moment is None else moment.strftime("%H:%M")
