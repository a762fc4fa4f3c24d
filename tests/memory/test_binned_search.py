"""Retrieval from the bins as one statement: the same as the formulas, and blind to others."""

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
from memory import binned_search
from memory.binned_search import Found, Query, Weights
from memory.enums import Bin
from memory.formulas import homeostasis
from memory.formulas.regulation import State
from memory.models import BinnedItem
from tests.memory.conftest import new_participant
from tests.memory.dialogue import START, identified
from tests.memory.test_search import unit_vector

pytestmark = pytest.mark.django_db

CALM = State()
LIMITS = {Bin.FACT: 5, Bin.RELATION: 3, Bin.AFFECT: 2, Bin.STYLE: 3}


def item(
    participant: Participant,
    name: str,
    *,
    bin_: Bin = Bin.FACT,
    cosine: float = 1.0,
    days_ago: float = 0.0,
    state: State = CALM,
    **changes: Any,
) -> BinnedItem:
    return BinnedItem(
        **{
            "id": identified(name),
            "participant": participant,
            "session_id": identified("an earlier session"),
            "session_number": 1,
            "stage_key": "T1",
            "bin": bin_,
            "text": name,
            "normalised": name,
            "at": START - timedelta(days=days_ago),
            "importance": 0.5,
            **state._asdict(),
            "rpe": 0.5,
            "log_id": identified(f"log of {name}"),
            "embedder": "scripted",
            "vector": unit_vector(cosine),
            "words": name.split(),
            "message_ids": [identified(f"message of {name}")],
        }
        | changes
    )


def asked(participant: Participant, **changes: Any) -> Query:
    query = Query(
        participant_id=participant.pk,
        session=identified("the current session"),
        embedder="scripted",
        vector=np.array([1.0, 0.0], dtype=np.float32),
        state=CALM,
        now=START,
    )
    return replace(query, **changes)


def store(*items: BinnedItem) -> None:
    BinnedItem.objects.bulk_create(items)


def names(found: list[Found]) -> list[str]:
    return [each.text for each in found]


def test_each_bin_brings_its_best_up_to_its_limit(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(
            *(item(participant, f"fact {n}", cosine=n / 10) for n in range(1, 8)),
            *(
                item(participant, f"relation {n}", bin_=Bin.RELATION, importance=n / 10)
                for n in range(1, 6)
            ),
            *(item(participant, f"affect {n}", bin_=Bin.AFFECT, days_ago=n) for n in range(4)),
            *(
                item(participant, f"style {n}", bin_=Bin.STYLE, state=CALM._replace(ne=n / 10))
                for n in (3, 4, 6, 9)
            ),
        )
        with CaptureQueriesContext(connection) as statements:
            found = binned_search.recall(asked(participant), limits=LIMITS)
    assert len(statements) == 1
    assert names(found) == [
        *(f"fact {n}" for n in (7, 6, 5, 4, 3)),
        *(f"relation {n}" for n in (5, 4, 3)),
        *(f"affect {n}" for n in (0, 1)),
        *(f"style {n}" for n in (3, 4, 6)),
    ]


def test_without_a_limit_a_bin_isnt_read(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(item(participant, "fact"), item(participant, "style", bin_=Bin.STYLE))
        assert names(binned_search.recall(asked(participant), limits={Bin.FACT: 5})) == ["fact"]
        assert binned_search.recall(asked(participant), limits={}) == []


def twelve(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers of twelve digits, as they are stored."""
    return st.floats(low, high).map(lambda value: round(value, 12))


@given(
    bin_=st.sampled_from(list(Bin)),
    cosine=twelve(-1, 1),
    days=st.floats(0, 4000),
    importance=twelve(0, 1),
    then=st.tuples(*[twelve(0, 1)] * 5),
    now=st.tuples(*[st.floats(0, 1)] * 5),
    bias=twelve(0, 2),
    breadth=st.floats(0.01, 2),
)
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_postgres_and_python_agree_on_a_score(
    participant: Participant,
    bin_: Bin,
    cosine: float,
    days: float,
    importance: float,
    then: tuple[float, ...],
    now: tuple[float, ...],
    bias: float,
    breadth: float,
) -> None:
    weights = Weights(state_bias=bias, match_breadth=breadth)
    with lab_scope(participant.lab_id):
        BinnedItem.objects.all().delete()
        store(
            item(
                participant,
                "one",
                bin_=bin_,
                cosine=cosine,
                days_ago=days,
                importance=importance,
                state=State(*then),
            )
        )
        query = asked(
            participant,
            weights=weights,
            state=State(*now),
            relevance=CalibrationPoint(low=-0.5, high=0.5),
        )
        (found,) = binned_search.nearest(query, limit=1)
    assert found.relevance is not None
    match = homeostasis.state_match(a=then, b=now, breadth=breadth)
    expected = {
        Bin.FACT: homeostasis.fact_score(relevance=found.relevance, match=match, bias=bias),
        Bin.RELATION: homeostasis.fading_score(
            importance=importance, age_days=found.age, match=match, bias=bias
        ),
        Bin.AFFECT: homeostasis.fading_score(
            importance=importance,
            age_days=found.age,
            match=match,
            weight=0.7,
            time_constant=7.0,
            bias=bias,
        ),
        Bin.STYLE: homeostasis.style_score(match=match, bias=bias),
    }[bin_]
    assert found.match == pytest.approx(match, abs=1e-9)
    assert found.age == pytest.approx(days, abs=1e-9)
    assert found.score == pytest.approx(expected, abs=1e-9)


def test_a_fact_must_exceed_the_threshold(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(item(participant, "near", cosine=0.6), item(participant, "far", cosine=-0.2))
        assert names(binned_search.recall(asked(participant), limits=LIMITS)) == ["near"]
        strict = asked(participant, weights=Weights(fact_threshold=0.7))
        assert binned_search.recall(strict, limits=LIMITS) == []


def test_the_present_state_favours_what_matches_it(participant: Participant) -> None:
    alarmed = CALM._replace(ne=0.9)
    with lab_scope(participant.lab_id):
        store(
            item(participant, "said calmly", bin_=Bin.RELATION),
            item(participant, "said in alarm", bin_=Bin.RELATION, state=alarmed),
        )
        calm = binned_search.recall(asked(participant), limits=LIMITS)
        upset = binned_search.recall(asked(participant, state=alarmed), limits=LIMITS)
    assert names(calm) == ["said calmly", "said in alarm"]
    assert names(upset) == ["said in alarm", "said calmly"]


def test_a_query_without_a_vector_finds_no_facts(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(item(participant, "fact"), item(participant, "relation", bin_=Bin.RELATION))
        found = binned_search.recall(asked(participant, vector=None), limits=LIMITS)
    assert names(found) == ["relation"]


def test_another_embedders_facts_arent_compared(participant: Participant) -> None:
    foreign: dict[str, Any] = {"embedder": "another", "vector": [1.0, 0.0, 0.0]}
    with lab_scope(participant.lab_id):
        store(
            item(participant, "fact", **foreign),
            item(participant, "relation", bin_=Bin.RELATION, **foreign),
        )
        assert names(binned_search.recall(asked(participant), limits=LIMITS)) == ["relation"]
        assert binned_search.nearest(asked(participant), limit=9) == []


def test_neither_the_current_session_nor_what_has_expired_is_found(
    participant: Participant,
) -> None:
    with lab_scope(participant.lab_id):
        store(
            item(participant, "here", session_id=identified("the current session")),
            item(participant, "gone", bin_=Bin.STYLE, expires_at=START),
            item(participant, "there", bin_=Bin.STYLE, expires_at=START + timedelta(seconds=1)),
        )
        assert names(binned_search.recall(asked(participant), limits=LIMITS)) == ["there"]
        assert names(binned_search.nearest(asked(participant), limit=9)) == ["there"]


def test_others_are_never_found(participant: Participant, lab: Lab, other_lab: Lab) -> None:
    neighbour, stranger = new_participant(lab), new_participant(other_lab)
    for other in (neighbour, stranger):
        with lab_scope(other.lab_id):
            store(item(other, f"of {other.pk}"))
    with lab_scope(participant.lab_id):
        assert binned_search.recall(asked(participant), limits=LIMITS) == []
        assert binned_search.recall(asked(stranger), limits=LIMITS) == []
        assert binned_search.candidates(asked(stranger), bins=list(Bin)) == []
    with pytest.raises(NoActiveLab):
        binned_search.recall(asked(participant), limits=LIMITS)


def test_items_are_read_in_the_order_asked_for(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(*(item(participant, name) for name in ("a", "b", "c")))
        order = [identified(name) for name in ("c", "a")]
        assert names(binned_search.read(asked(participant), order)) == ["c", "a"]


def test_candidates_hold_both_vectors_and_words(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(
            item(
                participant,
                "green tea",
                cosine=0.8,
                vector_in_context=unit_vector(0.6),
                words_in_context=["morning", "green", "tea"],
            ),
            item(participant, "far", cosine=0.1),
        )
        (one,) = binned_search.candidates(asked(participant), bins=[Bin.FACT], least=0.5)
    assert (round(one.cosine_alone or 0, 6), round(one.cosine_in_context or 0, 6)) == (0.8, 0.6)
    assert one.words_alone == ["green", "tea"]
    assert one.words_in_context == ["morning", "green", "tea"]
