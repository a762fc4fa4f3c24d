from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.models import Participant
from memlab.core.tenancy import lab_scope
from memory.models import MemoryEvent, Trait
from memory.models.profile import NORMALISED_CHARACTERS, normalised, trait_id
from tests.memory.dialogue import START, identified


def trait(participant: Participant, text: str, **changes: Any) -> Trait:
    values: dict[str, Any] = {
        "dimension": "preferences",
        "key": "",
        "emotion": "",
        "salience": 0.5,
        "stage_key": "T1",
        "session_id": identified("session"),
        "session_number": 1,
        "message_ids": [identified("message")],
        "learned_at": START,
    } | changes
    same = normalised(text, values["key"])
    return Trait(
        id=trait_id(
            participant=participant.public_id,
            dimension=values["dimension"],
            normalised_text=same,
        ),
        participant=participant,
        text=text,
        normalised=same,
        **values,
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Likes tea", "likes  tea."),
        ("喜欢茶！", "喜欢茶"),
        ("ＡＢＣ", "abc"),
        ("Straße", "STRASSE"),
        ("likes «tea»", "Likes tea"),
    ],
)
def test_wordings_that_differ_in_form_only_are_the_same(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"), [("likes tea", "likes tee"), ("喜欢茶", "不喜欢茶"), ("C", "C++")]
)
def test_wordings_that_differ_in_content_stay_apart(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text(max_size=200).filter(str.strip), st.text(max_size=60))
def test_a_normalised_text_fits_its_column_and_is_never_empty(text: str, key: str) -> None:
    same = normalised(text, key)
    assert 1 <= len(same) <= NORMALISED_CHARACTERS


@pytest.mark.django_db
def test_a_trait_is_learned_once_and_never_lost(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        first = trait(participant, "Likes tea", message_ids=[identified("first")])
        assert Trait.objects.learn([first], now=START) == 1
        later = START + timedelta(days=7)
        again = [
            trait(participant, "likes tea.", message_ids=[identified("second")]),
            trait(participant, "likes coffee", learned_at=later),
            trait(participant, "Likes coffee!", learned_at=later),
        ]
        assert Trait.objects.learn(again, now=later) == 1
        known = list(Trait.objects.of_participant(participant.pk))
        assert [(row.text, row.message_ids) for row in known] == [
            ("Likes tea", [identified("first")]),
            ("likes coffee", [identified("message")]),
        ]
        assert [(event.after or {})["text"] for event in MemoryEvent.objects.order_by("pk")] == [
            "Likes tea",
            "likes coffee",
        ]


@pytest.mark.django_db
def test_a_new_value_of_a_key_stands_beside_the_old_one(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        for text in ("student", "postdoc"):
            Trait.objects.learn(
                [trait(participant, text, dimension="basic_info", key="job")], now=START
            )
        assert {row.worded() for row in Trait.objects.all()} == {"job: student", "job: postdoc"}
