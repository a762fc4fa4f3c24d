"""Recall feasibility on an arm's page: what can still be recalled after each gap of its study."""

from __future__ import annotations

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from experiments.admin.arm import ArmAdmin
from experiments.calibrations import calibration_of
from experiments.enums import RelevanceScale
from experiments.models import Arm, Study
from memlab.core.embeddings.calibration import PairForm
from memory.feasibility import (
    LEAST_SHARE,
    in_scale,
    recall_feasibility,
    recallable_for,
    recalls,
)


def evidence_of(study: Study) -> list[float] | None:
    """Relevance of true evidence with the study's embedder, in its scale; None if unmeasured."""
    known = calibration_of(study.door("embedding"), study.language, PairForm.QUERY_PASSAGE)
    if known is None:
        return None
    return in_scale(known.evidence, scale=RelevanceScale(study.relevance), point=known.point)


def feasibility_panel(arm: Arm) -> SafeString:
    """A table with a row for each gap; nothing for an arm that doesn't recall by the curve."""
    parameters = arm.complete_parameters()
    if not recalls(parameters):
        return SafeString("")
    stages = [stage.configuration() for stage in arm.study.stages.all()]
    evidence = evidence_of(arm.study)
    limit = recallable_for(parameters)
    rows = recall_feasibility(parameters=parameters, stages=stages, evidence=evidence)
    return render_to_string(
        "back_office/feasibility.html",
        {
            "rows": [
                {
                    "stage": row.stage,
                    "days": row.gap.total_seconds() / 86400,
                    "least": row.least_relevance,
                    "percent": None if row.evidence_share is None else 100 * row.evidence_share,
                    "too_little": row.too_little,
                }
                for row in rows
            ],
            "limit_days": None if limit is None else limit.total_seconds() / 86400,
            "least_percent": round(100 * LEAST_SHARE),
            "pairs": None if evidence is None else len(evidence),
        },
    )


ArmAdmin.panels.append(feasibility_panel)
