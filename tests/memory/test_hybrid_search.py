"""Hybrid ranking orders what forgetting lets through, and changes nothing about that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.models import Lab, Participant
from memlab.core.tenancy import NoActiveLab, lab_scope
from memory import hybrid_search, search
from memory.enums import Ranking
from memory.hybrid_search import Fusion
from memory.models import Episode
from tests.memory.conftest import new_participant
from tests.memory.dialogue import START, identified
from tests.memory.test_search import ELSEWHERE, asked, episode, names, unit_vector

pytestmark = pytest.mark.django_db

FUSION = Fusion(session_bonus=0.0)


def stored(participant: Participant, *episodes: Episode) -> None:
    Episode.objects.bulk_create(episodes)


def of_words(participant: Participant, name: str, words: str, **changes: Any) -> Episode:
    return episode(participant, name, **{"words": words} | changes)


def test_words_put_what_passes_in_another_order(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        stored(
            participant,
            of_words(participant, "nearest", "rain garden", cosine=0.95),
            of_words(participant, "named", "cat miso ill", cosine=0.9),
            of_words(participant, "far", "train kyoto", cosine=0.8),
        )
        query = asked(participant, words=("miso", "cat"))
        dense = search.recall(query, limit=3)
        hybrid = hybrid_search.recall(query, FUSION, limit=3)
    assert names(dense) == ["nearest", "named", "far"]
    # nearest 2/21 = 0.095, named 2/22 + 2/21 = 0.186, far 2/23 = 0.087
    assert names(hybrid) == ["named", "nearest", "far"]
    assert sorted(dense, key=lambda row: row.text) == sorted(hybrid, key=lambda row: row.text)


def test_words_do_not_bring_back_what_is_below_the_threshold(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        stored(
            participant,
            of_words(participant, "passes", "rain", cosine=0.9),
            of_words(participant, "word for word", "cat miso", cosine=0.2),
            of_words(participant, "forgotten", "cat miso", cosine=1.0, days_ago=30),
        )
        query = asked(participant, words=("cat", "miso"))
        found = hybrid_search.recall(query, FUSION, limit=9)
        assert names(found) == ["passes"]
        assert found == search.recall(query, limit=9)
        # By rank alone both are found, and before what merely passes.
        ranked = hybrid_search.nearest(query, FUSION, limit=9)
        assert names(ranked) == ["forgotten", "word for word", "passes"]
        (kept, _other) = hybrid_search.nearest(
            query, FUSION, limit=9, without=[identified("forgotten")]
        )
        assert kept.text == "word for word"


def test_the_better_fitting_second_vector_counts_as_much_as_the_first(
    participant: Participant,
) -> None:
    with lab_scope(participant.lab_id):
        stored(
            participant,
            episode(participant, "in context", cosine=0.9, second_vector=unit_vector(0.1)),
            episode(participant, "alone", cosine=0.8, second_vector=unit_vector(0.99)),
            episode(participant, "nothing before", cosine=0.85),
        )
        found = hybrid_search.recall(asked(participant), FUSION, limit=9)
    # in context 1/21 + 1/23, alone 1/23 + 1/21: even, both newest; nothing before 2/22.
    assert names(found)[2] == "nothing before"
    assert {row.text: row.cosine for row in found} == pytest.approx(
        {"in context": 0.9, "alone": 0.8, "nothing before": 0.85}, abs=1e-6
    )


def test_words_of_the_message_before_find_what_answers_it(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        stored(
            participant,
            of_words(participant, "miso", "miso", words_before="cat name", cosine=0.9),
            of_words(participant, "bread", "bread tasty", words_before="breakfast", cosine=0.9),
        )
        query = asked(participant, words=("cat",))
        assert names(hybrid_search.nearest(query, FUSION, limit=1)) == ["miso"]


def test_the_session_bonus_brings_together_what_was_said_together(
    participant: Participant,
) -> None:
    def of(session: str, name: str, cosine: float) -> Episode:
        return episode(participant, name, cosine=cosine, session_id=identified(session))

    with lab_scope(participant.lab_id):
        stored(
            participant,
            of("lone", "lone", 0.96),
            of("trip", "trip 1", 0.99),
            of("trip", "trip 2", 0.98),
            of("trip", "trip 3", 0.95),
            *(of("other", f"other {n}", 0.5 - n / 100) for n in range(40)),
        )
        limit = 4
        apart = hybrid_search.nearest(asked(participant), FUSION, limit=limit)
        together = hybrid_search.nearest(asked(participant), Fusion(session_bonus=3.0), limit=limit)
    assert names(apart) == ["trip 1", "trip 2", "lone", "trip 3"]
    # lone 2/23·4 = 0.348; trip 3 2/24 + 3·(2/21 + 2/22 + 2/24)/3 = 0.353
    assert names(together) == ["trip 1", "trip 2", "trip 3", "lone"]


def test_ties_go_to_the_later(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        stored(
            participant,
            *(of_words(participant, f"{days}", "tea", days_ago=days) for days in (3.0, 1.0, 2.0)),
        )
        found = hybrid_search.nearest(asked(participant, words=("milk",)), FUSION, limit=2)
    assert names(found) == ["1.0", "2.0"]


def test_nothing_else_is_ranked(lab: Lab, other_lab: Lab, participant: Participant) -> None:
    neighbour, stranger = new_participant(lab), new_participant(other_lab)
    with lab_scope(other_lab.pk):
        episode(stranger, "another lab's").save()
    with lab_scope(lab.pk):
        episode(participant, "mine").save()
        episode(neighbour, "another participant's").save()
        episode(participant, "of another embedder", embedder="other", vector=[1.0]).save()
        episode(participant, "of this session", session_id=ELSEWHERE).save()
        for find in (hybrid_search.recall, hybrid_search.nearest):
            assert names(find(asked(participant), FUSION, limit=9)) == ["mine"]
            assert find(asked(stranger), FUSION, limit=9) == []
    with pytest.raises(NoActiveLab):
        hybrid_search.recall(asked(participant), FUSION, limit=9)


def test_it_takes_two_statements_however_many_rows(participant: Participant) -> None:
    counts = []
    with lab_scope(participant.lab_id):
        for size in (1, 3):
            stored(participant, *(episode(participant, f"{size} {n}") for n in range(size)))
            with CaptureQueriesContext(connection) as statements:
                hybrid_search.recall(asked(participant), FUSION, limit=9)
            counts.append(len(statements))
    assert counts == [2, 2]


def test_a_later_question_finds_what_an_earlier_one_could_not_yet_forget(
    participant: Participant,
) -> None:
    later = START + timedelta(days=21)
    with lab_scope(participant.lab_id):
        stored(participant, of_words(participant, "fading", "cat", cosine=0.8))
        now = asked(participant, words=("cat",))
        assert names(hybrid_search.recall(now, FUSION, limit=1)) == ["fading"]
        assert hybrid_search.recall(asked(participant, now=later), FUSION, limit=1) == []


def test_what_an_arm_declares_is_how_it_fuses() -> None:
    parameters = {
        "ranking": Ranking.HYBRID.value,
        "fusion_k": 60.0,
        "session_bonus": 0.5,
    }
    assert Fusion.of(parameters) == Fusion(k=60.0, session_bonus=0.5)
    assert Fusion.of(parameters | {"ranking": "dense"}) is None
