from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from experiments.configuration import CalibrationPoint, StageConfiguration
from experiments.enums import RelevanceScale
from experiments.parameters import validated
from memlab.core.embeddings.calibration import PairForm, shipped_measurements
from memory.architectures.gist import Gist
from memory.architectures.hybrid import Hybrid
from memory.feasibility import in_scale, recall_feasibility, recallable_for, recalls

EVIDENCE = [number / 100 for number in range(100)]


def stage(number: int, *, days: float, manipulation: bool = True) -> StageConfiguration:
    return StageConfiguration(
        number=number,
        key=f"T{number}",
        title="",
        briefing="",
        instructions="",
        opening_line="",
        topics=(),
        minimum_gap_hours=days * 24,
        window_hours=None,
        minimum_minutes=0,
        maximum_minutes=None,
        minimum_turns=0,
        maximum_turns=None,
        idle_minutes=30,
        manipulation=manipulation,
    )


STAGES = [
    stage(4, days=30),
    stage(1, days=0, manipulation=False),
    stage(2, days=7),
    stage(3, days=14),
]


def parameters(preset: str = "weekly", **changes: Any) -> dict[str, Any]:
    return validated(Hybrid.parameters, {**Hybrid.presets[preset], **changes})


def test_each_gap_tells_what_passes() -> None:
    rows = recall_feasibility(parameters=parameters(), stages=STAGES, evidence=EVIDENCE)
    assert [(row.stage, row.gap.days) for row in rows] == [("T2", 7), ("T3", 14), ("T4", 30)]
    assert [row.least_relevance and round(row.least_relevance, 3) for row in rows] == [
        0.475,
        0.674,
        None,
    ]
    assert [row.evidence_share for row in rows] == [0.52, 0.32, 0.0]
    assert [row.too_little for row in rows] == [False, False, True]


def test_under_thirty_percent_is_too_little() -> None:
    rows = recall_feasibility(
        parameters=parameters(), stages=STAGES, evidence=[0.1] * 71 + [0.9] * 29
    )
    assert (rows[0].evidence_share, rows[0].too_little) == (0.29, True)


def test_an_embedder_that_was_never_calibrated_has_no_share() -> None:
    rows = recall_feasibility(parameters=parameters(), stages=STAGES, evidence=None)
    assert [row.evidence_share for row in rows] == [None, None, None]
    assert [row.too_little for row in rows] == [False, False, True]


def test_emotional_episodes_last_longer() -> None:
    plain, moving = (
        recall_feasibility(
            parameters=parameters(), stages=STAGES, evidence=EVIDENCE, salience=salience
        )[0].least_relevance
        for salience in (0.0, 1.0)
    )
    assert plain is not None
    assert moving is not None
    assert moving < plain


@pytest.mark.parametrize(
    ("preset", "changes", "expected"),
    [
        ("hou-2024", {}, timedelta(days=0.243)),
        ("hou-2024", {"time_unit": "hours"}, timedelta(hours=0.243)),
        ("spaced-sessions", {}, timedelta(days=2.22)),
        ("weekly", {}, timedelta(days=21.89)),
    ],
)
def test_recallable_for_matches_the_presets(
    preset: str, changes: dict[str, Any], expected: timedelta
) -> None:
    lasting = recallable_for(parameters(preset, **changes))
    assert lasting is not None
    assert abs(lasting - expected) < expected * 0.005


def test_what_salience_alone_recalls_lasts_for_ever() -> None:
    assert recallable_for(parameters(recall_threshold=0.01), salience=1.0) is None


def test_an_arm_without_a_curve_has_no_rows() -> None:
    for given in (validated(Gist.parameters, {}), parameters(forgetting_curve=False)):
        assert recalls(given) is False
        assert recall_feasibility(parameters=given, stages=STAGES, evidence=EVIDENCE) == []


def test_raw_relevance_is_measured_in_cosines() -> None:
    point = CalibrationPoint(low=0.8, high=0.9)
    assert in_scale([0.0, 0.5], scale=RelevanceScale.RAW, point=point) == [0.8, pytest.approx(0.85)]
    assert in_scale([0.0, 0.5], scale=RelevanceScale.CALIBRATED, point=point) == [0.0, 0.5]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_weekly_is_feasible_at_a_week_with_the_embedder_that_ships(language: str) -> None:
    (measured,) = (
        each
        for each in shipped_measurements()
        if each.calibration.language == language and each.calibration.form is PairForm.QUERY_PASSAGE
    )
    (week, *_rest) = recall_feasibility(
        parameters=parameters(), stages=STAGES, evidence=measured.evidence
    )
    assert week.evidence_share is not None
    assert week.evidence_share > 0.6
    assert not week.too_little
