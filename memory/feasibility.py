"""Can anything be recalled over the gaps of a study at all? Known before it opens, not after.

With the numbers of the original paper an episode can be recalled for six hours, so that over any
longer gap L4 silently becomes L3. For each gap a researcher sees the least relevance that still
passes, and which share of true evidence has that much: of the question–answer pairs that the
embedder was calibrated on, see ``experiments.calibrations``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from experiments.configuration import CalibrationPoint, StageConfiguration
from experiments.enums import RelevanceScale
from experiments.parameters import Value
from memory.formulas import forgetting
from memory.models.episode import Curve

#: With less of the true evidence than this, launching a study takes a logged override.
LEAST_SHARE = 0.30


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibilityRow:
    """One gap: from the stage before to ``stage``, ``gap`` later at the earliest.

    ``least_relevance`` is None if nothing can be recalled any more; ``evidence_share``, in [0, 1],
    is None if the embedder was never calibrated.
    """

    stage: str
    gap: timedelta
    least_relevance: float | None
    evidence_share: float | None

    @property
    def too_little(self) -> bool:
        """Whether so little passes that a launch needs an override."""
        if self.least_relevance is None:
            return True
        return self.evidence_share is not None and self.evidence_share < LEAST_SHARE


def recalls(parameters: Mapping[str, Value]) -> bool:
    """Whether an arm with these parameters recalls by the forgetting curve."""
    return "recall_threshold" in parameters and bool(parameters.get("forgetting_curve", True))


def recall_feasibility(
    *,
    parameters: Mapping[str, Value],
    stages: Sequence[StageConfiguration],
    evidence: Sequence[float] | None,
    salience: float = 0.0,
) -> list[FeasibilityRow]:
    """A row for each stage with memory that follows another, in their order.

    ``parameters`` are an arm's, complete; empty list unless it ``recalls``. ``evidence`` holds the
    relevance of true question–answer pairs in the study's own scale (``in_scale``), None if
    unknown. ``salience`` is that of the episode: 0, the default, is the most forgettable.
    """
    if not recalls(parameters):
        return []
    curve = Curve.of(parameters)
    ordered = sorted(stages, key=lambda stage: stage.number)
    return [
        _row(stage, curve=curve, evidence=evidence, salience=salience)
        for stage in ordered[1:]
        if stage.manipulation
    ]


def recallable_for(parameters: Mapping[str, Value], *, salience: float = 0.0) -> timedelta | None:
    """For how long a perfectly relevant new episode can be recalled; None means for ever."""
    curve = Curve.of(parameters)
    units = forgetting.recallable_days(
        consolidation=_initial(curve, salience),
        threshold=curve.recall_threshold,
        salience=salience,
        bonus=curve.recall_bonus,
    )
    seconds = units * curve.time_unit.seconds
    return timedelta(seconds=seconds) if seconds < timedelta.max.total_seconds() else None


def in_scale(
    evidence: Sequence[float], *, scale: RelevanceScale, point: CalibrationPoint
) -> list[float]:
    """Calibrated relevances in the scale that a study uses: as they are, or as raw cosines."""
    if scale is RelevanceScale.CALIBRATED:
        return list(evidence)
    return [point.low + relevance * (point.high - point.low) for relevance in evidence]


def _initial(curve: Curve, salience: float) -> float:
    return forgetting.initial_consolidation(
        salience=salience, initial=curve.initial_g, gain=curve.salience_gain
    )


def _row(
    stage: StageConfiguration,
    *,
    curve: Curve,
    evidence: Sequence[float] | None,
    salience: float,
) -> FeasibilityRow:
    gap = timedelta(hours=stage.minimum_gap_hours)
    least = forgetting.least_recallable_relevance(
        elapsed_days=gap.total_seconds() / curve.time_unit.seconds,
        consolidation=_initial(curve, salience),
        threshold=curve.recall_threshold,
        salience=salience,
        bonus=curve.recall_bonus,
    )
    share = None
    if evidence:
        passing = 0 if least is None else sum(relevance >= least for relevance in evidence)
        share = passing / len(evidence)
    return FeasibilityRow(stage=stage.key, gap=gap, least_relevance=least, evidence_share=share)
