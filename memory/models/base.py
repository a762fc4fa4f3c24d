"""What every memory row shares."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantModel


class Memory(TenantModel):
    """Something one participant's agent encoded, with the messages it covers.

    Sessions and messages are plain ids: they belong to apps above this one.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    participant = models.ForeignKey(
        "experiments.Participant",
        models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("participant"),
    )
    session_id = models.UUIDField(_("session"))
    session_number = models.PositiveSmallIntegerField(_("session number"))

    class Meta(TenantModel.Meta):
        abstract = True


def message_ids_field() -> ArrayField[list[UUID], list[UUID]]:
    """Ids of the messages a memory covers, in the order in which they were said."""
    return ArrayField(models.UUIDField(), verbose_name=_("messages"))


def stage_field() -> models.CharField[Any, Any]:
    """Key of the stage a memory stems from."""
    return models.CharField(_("stage"), max_length=20)
