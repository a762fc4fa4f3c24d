"""What every part of a participant knows."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import ParticipantState
from experiments.models.study import Study
from experiments.models.version import StudyVersion
from experiments.participant_codes import new_code
from memlab.core.tenancy.models import TenantModel


class ParticipantRow(TenantModel):
    """The fields of ``Participant`` that several of its parts read or change."""

    public_id = models.UUIDField(default=uuid4, editable=False)
    code = models.CharField(_("code"), max_length=12, default=new_code, editable=False)
    study = models.ForeignKey(
        Study, models.PROTECT, related_name="participants", verbose_name=_("study")
    )
    version = models.ForeignKey(
        StudyVersion,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("version"),
        help_text=_("Pinned at consent."),
    )
    state = models.CharField(
        _("state"),
        max_length=10,
        choices=ParticipantState.choices,
        default=ParticipantState.INVITED,
    )
    test_mode = models.BooleanField(_("test run"), default=False, editable=False)
    time_zone = models.CharField(
        _("time zone"),
        max_length=64,
        blank=True,
        editable=False,
        help_text=_("As the participant's browser named it; empty: the study's."),
    )
    password = models.CharField(max_length=128, blank=True, editable=False)
    consented_at = models.DateTimeField(_("consented (study time)"), null=True, editable=False)
    entered_at = models.DateTimeField(_("entered"), auto_now_add=True)

    # What other tables keep of the participant.
    consents: Any
    reminders: Any
    sessions: Any

    class Meta(TenantModel.Meta):
        abstract = True
