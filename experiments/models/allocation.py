"""Arms drawn for participants, and how far each sequence is used up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments import strata
from experiments.allocation import Placed, minimised_draw, permuted_block, simple_draw
from experiments.enums import AllocationMethod
from experiments.models.participant import Participant
from experiments.models.version import StudyVersion
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

#: Stands in place of an erased participant's stratum.
ERASED = "erased"


class AllocationCounter(TenantModel):
    """How far a stratum's sequence is used up. Real and test runs are counted apart."""

    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    stratum = models.CharField(_("stratum"), max_length=200)
    test_mode = models.BooleanField(_("test run"), default=False)
    used = models.PositiveIntegerField(_("used"), default=0)
    block = models.PositiveIntegerField(_("block"), default=0)
    place = models.PositiveIntegerField(_("next place in the block"), default=0)

    class Meta(TenantModel.Meta):
        verbose_name = _("allocation counter")
        verbose_name_plural = _("allocation counters")
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "version", "stratum", "test_mode"], name="one_counter_a_stratum"
            )
        ]

    def __str__(self) -> str:
        return f"{self.stratum}: {self.used}"

    def advance(self, block_size: int) -> None:
        """Use up one place; after the last one of a block comes the next block."""
        self.used += 1
        self.place += 1
        if self.place == block_size:
            self.block, self.place = self.block + 1, 0
        self.save(update_fields=["used", "block", "place"])


@dataclass(frozen=True, slots=True)
class _Drawn:
    """An arm, its block (0 and 1 place where there are no blocks), and what it was drawn from."""

    arm: str
    source: Mapping[str, Any]
    block: int = 0
    block_size: int = 1


class AllocationQuerySet(TenantQuerySet["Allocation"]):
    def draw(self, *, participant: Participant, study_at: datetime) -> Allocation:
        """Take the next place of the participant's sequence, under a lock on its counter.

        Blocks have a sequence for each stratum. Simple draws and minimisation have one of the whole
        version: whoever minimises must have seen everybody before.
        """
        version = participant.version
        assert version is not None
        levels = participant.levels()
        stratum = strata.stratum(levels)
        method = version.configuration.allocation_method
        where = {
            "version": version,
            "stratum": stratum if method is AllocationMethod.BLOCKS else strata.ALL,
            "test_mode": participant.test_mode,
        }
        AllocationCounter.objects.get_or_create(**where)
        counter = AllocationCounter.objects.select_for_update().get(**where)
        drawn = self._drawn(participant, version, counter, levels)
        allocation = self.create(
            **{**where, "stratum": stratum},
            participant=participant,
            arm_key=drawn.arm,
            method=method,
            drawn_from=drawn.source,
            position=counter.used,
            block=drawn.block,
            block_size=drawn.block_size,
            study_at=study_at,
        )
        counter.advance(drawn.block_size)
        return allocation

    def _drawn(
        self,
        participant: Participant,
        version: StudyVersion,
        counter: AllocationCounter,
        levels: Mapping[str, str],
    ) -> _Drawn:
        configuration = version.configuration
        run = "test" if participant.test_mode else "real"
        seed = f"{participant.study.allocation_seed}:{version.sha256}:{run}"
        weights = {arm.key: arm.weight for arm in configuration.arms}
        if configuration.allocation_method is AllocationMethod.SIMPLE:
            arm = simple_draw(counter.used, seed=seed, weights=weights)
            return _Drawn(arm, {"weights": weights})
        if configuration.allocation_method is AllocationMethod.MINIMISATION:
            probability = configuration.minimisation_probability
            minimised = minimised_draw(
                counter.used,
                seed=seed,
                levels=levels,
                earlier=self._placed(version, test_mode=participant.test_mode),
                weights=weights,
                probability=probability,
            )
            source = {
                "weights": weights,
                "levels": dict(levels),
                "imbalance": dict(minimised.imbalance),
                "preferred": list(minimised.preferred),
                "probability": probability,
            }
            return _Drawn(minimised.arm, source)
        arms = permuted_block(
            counter.block,
            seed=seed,
            stratum=counter.stratum,
            weights=weights,
            multiples=configuration.block_multiples,
        )
        source = {"weights": weights, "place": counter.place}
        return _Drawn(arms[counter.place], source, counter.block, len(arms))

    def hand_to_shell(self, shell: Participant) -> int:
        """Let the arm be counted for the empty row of an erased participant. The place in the
        sequence and the stratum, which would tell of whom and when, stay used up in the counter
        alone; who is minimised later is so without their levels."""
        day = shell.entered_at
        return self.update(
            participant=shell,
            stratum=ERASED,
            drawn_from={"levels": {}},
            position=shell.pk,
            block=0,
            block_size=1,
            study_at=day,
            recorded_at=day,
        )

    def _placed(self, version: StudyVersion, *, test_mode: bool) -> list[Placed]:
        """Everybody who was minimised before, with the levels that they had then."""
        rows = self.filter(lab_id=version.lab_id, version=version, test_mode=test_mode)
        return [
            Placed(source["levels"], arm)
            for source, arm in rows.order_by("position").values_list("drawn_from", "arm_key")
        ]


class Allocation(TenantModel):
    """One participant's arm and the place in the sequence it came from."""

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="allocations", verbose_name=_("participant")
    )
    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="+", verbose_name=_("version")
    )
    arm_key = models.CharField(_("arm"), max_length=40)
    stratum = models.CharField(_("stratum"), max_length=200)
    test_mode = models.BooleanField(_("test run"), default=False)
    method = models.CharField(
        _("method"),
        max_length=12,
        choices=AllocationMethod.choices,
        default=AllocationMethod.BLOCKS,
    )
    drawn_from = models.JSONField(
        _("drawn from"),
        default=dict,
        help_text=_("Weights, and under minimisation what each arm would have meant."),
    )
    position = models.PositiveIntegerField(_("position"))
    block = models.PositiveIntegerField(_("block"))
    block_size = models.PositiveIntegerField(_("block size"))
    study_at = models.DateTimeField(_("allocated at (study time)"))
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(AllocationQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("allocation")
        verbose_name_plural = _("allocations")
        constraints = [
            models.UniqueConstraint(fields=["lab", "participant"], name="one_arm_a_participant"),
            models.UniqueConstraint(
                fields=["lab", "version", "stratum", "test_mode", "position"],
                name="a_slot_is_used_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participant_id} → {self.arm_key}"
