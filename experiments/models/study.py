"""Studies: what staff edit, until opening freezes it."""

from __future__ import annotations

import secrets
from uuid import uuid4
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.calibrations import points_of
from experiments.configuration import (
    CalibrationPoint,
    Pacing,
    SharedFactors,
    StudyConfiguration,
)
from experiments.enums import (
    AllocationMethod,
    AllocationTime,
    Instruction,
    Language,
    RelevanceScale,
    WithinSession,
)
from experiments.models.study_flow import StudyFlow
from experiments.models.study_models import ModelFields
from experiments.models.study_rules import (
    DebriefingFields,
    EntryFields,
    ReminderFields,
    SafetyFields,
)
from experiments.placements import placements_of
from memlab.core.tenancy.models import TenantModel


def known_zone(name: str) -> None:
    """Validate an IANA time zone name."""
    if name not in available_timezones():
        raise ValidationError(
            _now("%(name)s is no time zone. Use a name such as Asia/Shanghai or Europe/Berlin.")
            % {"name": name}
        )


def _seed() -> str:
    return secrets.token_hex(16)


def _block_multiples() -> list[int]:
    return [1, 2]


class Study(
    TenantModel,
    StudyFlow,
    ModelFields,
    EntryFields,
    SafetyFields,
    DebriefingFields,
    ReminderFields,
):
    """What staff edit. Opening freezes it into a ``StudyVersion``."""

    public_id = models.UUIDField(_("public id"), default=uuid4, editable=False)
    title = models.CharField(_("title"), max_length=200)
    language = models.CharField(
        _("language"), max_length=8, choices=Language.choices, default=Language.ENGLISH
    )
    time_zone = models.CharField(
        _("time zone"),
        max_length=64,
        default="UTC",
        validators=[known_zone],
        help_text=_("Whose calendar day the prompts name, e.g. Asia/Shanghai."),
    )
    assistant_name = models.CharField(_("assistant's name"), max_length=40)
    persona = models.TextField(
        _("persona"), help_text=_("Who the assistant is, the same in all arms.")
    )
    information = models.TextField(_("information sheet"))
    consent = models.TextField(_("consent statement"))

    within_session = models.CharField(
        _("within session"),
        max_length=8,
        choices=WithinSession.choices,
        default=WithinSession.FULL,
    )
    within_session_turns = models.PositiveSmallIntegerField(_("last n turns"), default=7)
    instruction = models.CharField(
        _("instruction"), max_length=8, choices=Instruction.choices, default=Instruction.NEUTRAL
    )
    provenance_in_prompt = models.BooleanField(_("provenance in prompt"), default=False)
    pacing = models.BooleanField(_("pacing"), default=True)
    pacing_first_token_ms = models.PositiveIntegerField(_("first token, ms"), default=1200)
    pacing_tokens_per_second = models.FloatField(_("tokens a second"), default=25.0)

    relevance = models.CharField(
        _("relevance"),
        max_length=12,
        choices=RelevanceScale.choices,
        default=RelevanceScale.CALIBRATED,
    )
    allocation_time = models.CharField(
        _("allocation"),
        max_length=20,
        choices=AllocationTime.choices,
        default=AllocationTime.FIRST_ACTIVE_STAGE,
    )
    allocation_method = models.CharField(
        _("method of allocation"),
        max_length=12,
        choices=AllocationMethod.choices,
        default=AllocationMethod.BLOCKS,
    )
    minimisation_probability = models.FloatField(
        _("probability of the preferred arm"),
        default=0.8,
        validators=[MinValueValidator(0.5), MaxValueValidator(1)],
        help_text=_("Under minimisation. At 1 whoever knows the earlier ones knows the next arm."),
    )
    block_multiples = models.JSONField(
        _("block sizes"),
        default=_block_multiples,
        help_text=_("Multiples of the smallest balanced block, drawn at random."),
    )
    varied = models.JSONField(
        _("varied on purpose"),
        default=list,
        blank=True,
        help_text=_("Parameters in which arms may differ although they share them, by name."),
    )
    allocation_seed = models.CharField(max_length=32, default=_seed, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("study")
        verbose_name_plural = _("studies")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "public_id"], name="study_public_id_in_lab")
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        self.clean_reminders()
        self.clean_models()
        multiples = self.block_multiples
        if not multiples or not all(isinstance(n, int) and 1 <= n <= 10 for n in multiples):
            raise ValidationError(
                {"block_multiples": _now("A list of whole numbers from 1 to 10, e.g. [1, 2].")}
            )
        self.clean_entry()

    def configuration(self) -> StudyConfiguration:
        """The study as it stands, with every arm's parameters complete and checked.

        Raises ValidationError if an arm or the calibration is not usable.
        """
        return StudyConfiguration(
            title=self.title,
            language=self.language,
            time_zone=self.time_zone,
            persona=self.persona,
            assistant_name=self.assistant_name,
            information=self.information,
            consent=self.consent,
            talking=self.door("talking"),
            fallback=self.fallback_door(),
            extraction=self.door("extraction"),
            embedding=self.door("embedding"),
            sampling=self.sampling,
            context_tokens=self.context_tokens,
            factors=SharedFactors(
                within_session=WithinSession(self.within_session),
                within_session_turns=self.within_session_turns,
                instruction=Instruction(self.instruction),
                provenance_in_prompt=self.provenance_in_prompt,
            ),
            pacing=Pacing(
                enabled=self.pacing,
                first_token_ms=self.pacing_first_token_ms,
                tokens_per_second=self.pacing_tokens_per_second,
            ),
            relevance=RelevanceScale(self.relevance),
            calibrations=self._calibrations(),
            allocation_time=AllocationTime(self.allocation_time),
            allocation_method=AllocationMethod(self.allocation_method),
            minimisation_probability=self.minimisation_probability,
            block_multiples=tuple(self.block_multiples),
            arms=tuple(arm.configuration() for arm in self.arms.order_by("key")),
            stages=tuple(stage.configuration() for stage in self.stages.order_by("number")),
            entry=self.entry_rules(),
            safety=self.safety_rules(),
            debriefing=self.debriefing_rules(),
            reminders=self.reminder_rules(),
            currency=self.currency,
            placements=placements_of(self),
            varied=tuple(sorted(self.varied)),
        )

    def _calibrations(self) -> dict[str, CalibrationPoint]:
        if self.relevance == RelevanceScale.RAW:
            return {}
        return points_of(self.door("embedding"), self.language)
