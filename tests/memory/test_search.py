"""Recall as one statement: the same as the formulas, exact, and blind to whom it shouldn't see."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.configuration import CalibrationPoint
from experiments.models import Lab, Participant
from memlab.core.tenancy import NoActiveLab, lab_scope
from memory import search
from memory.enums import TimeUnit
from memory.formulas import forgetting
from memory.models import Episode
from memory.models.episode import Curve
from tests.memory.conftest import new_participant
from tests.memory.dialogue import START, identified

pytestmark = pytest.mark.django_db

WEEKLY = Curve(initial_g=20.0, recall_threshold=0.45)
ELSEWHERE = identified("the current session")


def unit_vector(cosine: float) -> list[float]:
    """A vector with a given cosine to (1, 0)."""
    return [cosine, float(np.sqrt(1 - cosine**2))]


def episode(
    participant: Participant,
    name: str,
    *,
    cosine: float = 1.0,
    days_ago: float = 0.0,
    salience: float = 0.0,
    g: float = 20.0,
    curve: Curve = WEEKLY,
    **changes: Any,
) -> Episode:
    anchor = START - timedelta(days=days_ago)
    return Episode(
        **{
            "id": identified(name),
            "participant": participant,
            "session_id": identified("an earlier session"),
            "session_number": 1,
            "stage_key": "T1",
            "text": name,
            "message_ids": [identified(f"message of {name}")],
            "ends_with": identified(f"message of {name}"),
            "form": "user/message",
            "embedder": "scripted",
            "vector": unit_vector(cosine),
            "encoded_at": anchor,
            "anchor": anchor,
            "g": g,
            "intensity": salience,
            "self_disclosure": salience,
            "value_relevance": salience,
            "salience": salience,
            "importance": salience,
            "recallable_until": curve.recallable_until(g=g, anchor=anchor, salience=salience),
        }
        | changes
    )


def asked(participant: Participant, **changes: Any) -> search.Query:
    query = search.Query(
        participant_id=participant.pk,
        session=ELSEWHERE,
        embedder="scripted",
        vector=np.array([1.0, 0.0], dtype=np.float32),
        now=START,
        curve=WEEKLY,
    )
    return replace(query, **changes)


def names(found: list[search.Found]) -> list[str]:
    return [row.text for row in found]


def test_the_best_of_what_passes_comes_back_in_order(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.bulk_create(
            [
                episode(participant, "near, old", cosine=0.9, days_ago=14),
                episode(participant, "near, new", cosine=0.9, days_ago=1),
                episode(participant, "far, new", cosine=0.3, days_ago=1),
                episode(participant, "perfect, forgotten", cosine=1.0, days_ago=30),
                episode(participant, "near, new, moving", cosine=0.9, days_ago=1, salience=1.0),
            ]
        )
        found = search.recall(asked(participant), limit=5)
    assert names(found) == ["near, new, moving", "near, new", "near, old"]
    assert [round(row.probability, 6) for row in found] == [0.959933, 0.909933, 0.570159]


def test_equal_probabilities_come_back_newest_first(participant: Participant) -> None:
    curve = replace(WEEKLY, recall_threshold=0.5)
    with lab_scope(participant.lab_id):
        Episode.objects.bulk_create(
            episode(participant, f"{days} days ago", days_ago=days, g=20.0 * days, curve=curve)
            for days in (3, 1, 2)
        )
        found = search.recall(asked(participant, curve=curve), limit=2)
    assert names(found) == ["1 days ago", "2 days ago"]
    assert found[0].probability == found[1].probability


def test_relevance_is_calibrated_and_clipped(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.bulk_create(
            [
                episode(participant, "below", cosine=0.7),
                episode(participant, "between", cosine=0.85),
                episode(participant, "above", cosine=0.95),
            ]
        )
        found = search.nearest(
            asked(participant, relevance=CalibrationPoint(low=0.8, high=0.9)), limit=3
        )
    assert names(found) == ["above", "between", "below"]
    assert [row.relevance for row in found] == [1.0, pytest.approx(0.5, abs=1e-6), 0.0]
    assert [row.cosine for row in found] == pytest.approx([0.95, 0.85, 0.7], abs=1e-6)


def test_nothing_else_is_searched(lab: Lab, other_lab: Lab, participant: Participant) -> None:
    neighbour, stranger = new_participant(lab), new_participant(other_lab)
    with lab_scope(other_lab.pk):
        episode(stranger, "another lab's").save()
    with lab_scope(lab.pk):
        episode(participant, "mine").save()
        episode(neighbour, "another participant's").save()
        episode(participant, "of another embedder", embedder="other").save()
        episode(participant, "of this session", session_id=ELSEWHERE).save()
        assert names(search.recall(asked(participant), limit=9)) == ["mine"]
        assert names(search.nearest(asked(participant), limit=9)) == ["mine"]
        assert search.earlier(asked(participant)) == [identified("mine")]
        assert search.recall(asked(stranger), limit=9) == []


def test_an_episode_of_other_dimensions_is_never_compared(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        episode(participant, "mine").save()
        episode(participant, "of three", embedder="three", vector=[1.0, 0.0, 0.0]).save()
        assert names(search.recall(asked(participant), limit=9)) == ["mine"]


def test_vectors_larger_than_a_page_are_stored_and_found(participant: Participant) -> None:
    wide = np.random.default_rng(1).normal(size=3072).astype(np.float32)
    with lab_scope(participant.lab_id):
        episode(participant, "wide", vector=wide).save()
        (found,) = search.recall(asked(participant, vector=wide), limit=1)
    assert found.relevance == pytest.approx(1.0, abs=1e-6)


def test_nearest_leaves_out_what_it_is_told_to(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.bulk_create(
            episode(participant, f"{cosine}", cosine=cosine, days_ago=400)
            for cosine in (0.2, 0.4, 0.6, 0.8)
        )
        found = search.nearest(asked(participant), limit=2, without=[identified("0.6")])
        assert names(found) == ["0.8", "0.4"]
        assert names(search.read(asked(participant), [identified("0.2"), identified("0.8")])) == [
            "0.2",
            "0.8",
        ]


def test_recall_is_one_statement(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.bulk_create(episode(participant, f"{n}") for n in range(30))
        with CaptureQueriesContext(connection) as statements:
            assert len(search.recall(asked(participant), limit=5)) == 5
    assert len(statements) == 1


def test_recall_outside_a_lab_is_refused(participant: Participant) -> None:
    with pytest.raises(NoActiveLab):
        search.recall(asked(participant), limit=5)


@pytest.mark.parametrize("unit", list(TimeUnit))
def test_an_old_weak_memory_has_probability_zero_without_an_underflow(
    participant: Participant, unit: TimeUnit
) -> None:
    with lab_scope(participant.lab_id):
        episode(participant, "ages ago", cosine=0.3, days_ago=3650, g=0.01).save()
        found = search.nearest(asked(participant, curve=Curve(time_unit=unit)), limit=1)
    assert found[0].probability == pytest.approx(0.0, abs=1e-9)


PROPERTY = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
SHARE = st.floats(0, 1).map(lambda share: round(share, 6))
CURVES = st.builds(
    Curve,
    recall_threshold=SHARE,
    recall_bonus=SHARE,
    time_unit=st.sampled_from(TimeUnit),
)
ROW = st.fixed_dictionaries(
    {
        "cosine": st.floats(-1, 1),
        "days_ago": st.floats(0, 400),
        "salience": SHARE,
        "g": st.floats(0.01, 500),
    }
)


@PROPERTY
@given(row=ROW, curve=CURVES)
def test_sql_and_python_agree_on_the_probability(
    participant: Participant, row: dict[str, float], curve: Curve
) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.all().delete()
        episode(participant, "one", curve=curve, **row).save()
        stored = Episode.objects.get()
        (found,) = search.nearest(asked(participant, curve=curve), limit=1)
    expected = forgetting.final_probability(
        probability=forgetting.recall_probability(
            relevance=found.relevance,
            elapsed_days=curve.elapsed(stored.anchor, START),
            consolidation=stored.g,
        ),
        salience=stored.salience,
        bonus=curve.recall_bonus,
    )
    assert found.probability == pytest.approx(expected, abs=1e-9)
    assert found.relevance == pytest.approx(max(0.0, row["cosine"]), abs=1e-6)


@PROPERTY
@given(rows=st.lists(ROW, min_size=1, max_size=12), curve=CURVES)
def test_pruning_returns_the_same_rows_as_the_full_scan(
    participant: Participant, rows: list[dict[str, float]], curve: Curve
) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.all().delete()
        Episode.objects.bulk_create(
            episode(participant, f"{n}", curve=curve, **row) for n, row in enumerate(rows)
        )
        query = asked(participant, curve=curve)
        assert search.recall(query, limit=5) == search.recall_unpruned(query, limit=5)


@PROPERTY
@given(
    g=st.floats(0.01, 500),
    salience=SHARE,
    curve=CURVES,
    off=st.sampled_from([-2, -1, 0, 1, 2]),
)
def test_pruning_is_right_at_the_very_moment_of_forgetting(
    participant: Participant, g: float, salience: float, curve: Curve, off: int
) -> None:
    """A perfect cue, microseconds around the moment at which the curve crosses the threshold."""
    moment = curve.recallable_until(g=g, anchor=START, salience=salience)
    if moment.year > 9000:
        return
    with lab_scope(participant.lab_id):
        Episode.objects.all().delete()
        row = episode(participant, "edge", g=g, salience=salience, curve=curve)
        row.save()
        for seconds in (0.0, 1.0):
            now = moment - timedelta(seconds=seconds) + timedelta(microseconds=off)
            query = asked(participant, curve=curve, now=max(START, now))
            assert search.recall(query, limit=5) == search.recall_unpruned(query, limit=5)


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=8))
def test_a_vector_literal_gives_every_float_back(numbers: list[float]) -> None:
    vector = np.array(numbers, dtype=np.float32)
    literal = search.vector_literal(vector)
    read = np.array([float(number) for number in literal[1:-1].split(",")], dtype=np.float32)
    assert (read == vector).all()
