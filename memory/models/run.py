"""What of which session or turn has been written: what makes encoding happen once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet
from memory.enums import RunPart


class ConsolidationRunQuerySet(TenantQuerySet["ConsolidationRun"]):
    def parts_of(self, *, participant_id: int, subject: UUID) -> frozenset[RunPart]:
        """The parts of a session, or a turn, that are written already."""
        parts = self.filter(participant_id=participant_id, subject=subject)
        return frozenset(RunPart(part) for part in parts.values_list("part", flat=True))

    def turns_of(self, participant_id: int) -> int:
        """How many turns of a participant have been observed so far."""
        return self.filter(participant_id=participant_id, part=RunPart.TURN).count()

    def claim(
        self, *, participant_id: int, subject: UUID, part: RunPart, now: datetime
    ) -> ConsolidationRun | None:
        """Mark a part as written; None if it was before, and then nothing may be written again.

        Call it first in the transaction that writes the part's rows: whoever comes second waits
        at the unique constraint until the first has committed.
        """
        run, created = self.get_or_create(
            participant_id=participant_id,
            subject=subject,
            part=part,
            defaults={"study_at": now},
        )
        return run if created else None


class ConsolidationRun(TenantModel):
    """One part of one session or turn, written in the same transaction as this row."""

    participant = models.ForeignKey(
        "experiments.Participant",
        models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("participant"),
    )
    subject = models.UUIDField(_("session or turn"), help_text=_("Of a turn, the reply's id."))
    part = models.CharField(_("part"), max_length=12, choices=RunPart.choices)
    written = models.JSONField(_("written"), default=dict, help_text=_("Rows, by kind."))
    dropped = models.JSONField(
        _("dropped"), default=dict, help_text=_("Refused items of the model's answer, by reason.")
    )
    study_at = models.DateTimeField(_("at (study time)"))
    wall_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(ConsolidationRunQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("consolidation run")
        verbose_name_plural = _("consolidation runs")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "subject", "part"],
                name="a_part_is_consolidated_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_part_display()} · {self.subject}"

    def record(self, *, written: Mapping[str, int], dropped: Mapping[str, int]) -> None:
        """Note what the claimed part came to, in the transaction that claimed it."""
        self.written, self.dropped = dict(written), dict(dropped)
        self.save(update_fields=["written", "dropped"])
