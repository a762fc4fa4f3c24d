"""Answers are taken as they should be or refused with what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questionnaires.validation import InvalidAnswers, checked, refuse_unknown
from tests.questionnaires.asked import EVERYTHING, PETS

GOOD = {
    "like_1": 1,
    "like_2": 7,
    "check": 2,
    "one": 2,
    "some": [2, 1],
    "slide": 2.5,
    "warm": 5,
    "ios": 7,
    "years": 40,
    "words": " 我\n你 ",
    "day": "2026-02-28",
}
CODES = [item.code for item in EVERYTHING.items]


def errors(answers: dict[str, Any]) -> dict[str, str]:
    try:
        checked(EVERYTHING, answers, codes=CODES)
    except InvalidAnswers as refusal:
        return refusal.errors
    return {}


def test_good_answers_are_taken() -> None:
    assert checked(EVERYTHING, GOOD, codes=CODES) == {**GOOD, "some": [1, 2]}


def test_what_is_missing_is_said_for_each_required_item() -> None:
    required = ["like_1", "like_2", "check", "one", "slide", "warm", "ios", "years"]
    assert errors({}) == dict.fromkeys(required, "Please answer this question.")


def test_empty_optional_answers_are_none() -> None:
    empty = {**GOOD, "some": [], "words": " \n", "day": None}
    kept = checked(EVERYTHING, empty, codes=CODES)
    assert sorted(set(CODES) - set(kept)) == ["day", "some", "words"]


@pytest.mark.parametrize(
    ("code", "raw", "error"),
    [
        ("like_1", 8, "Please choose one of the answers."),
        ("like_1", 1.5, "Please choose one of the answers."),
        ("like_1", True, "Please give a number."),
        ("like_1", "3", "Please give a number."),
        ("like_1", {"a": 1}, "Please give a number."),
        ("one", 3, "Please choose one of the answers."),
        ("some", 1, "Please choose among the answers."),
        ("some", [1, 1], "Please choose each answer once at most."),
        ("some", [3], "Please choose one of the answers."),
        ("slide", 10.5, "The most is 10."),
        ("slide", 0.3, "Please give it in steps of 0.5."),
        ("warm", 6, "Please choose one of the answers."),
        ("ios", 0, "Please choose one of the answers."),
        ("years", -1, "The least is 0."),
        ("years", float("nan"), "Please give a number."),
        ("years", float("inf"), "Please give a number."),
        ("years", 10**400, "Please give a number."),
        ("words", 5, "Please write a text."),
        ("words", "x" * 5001, "This is too long: 5001 characters of at most 5000."),
        ("words", "a\x00b", "There are characters in it that can't be stored."),
        ("words", "\ud800", "There are characters in it that can't be stored."),
        ("day", "28.02.2026", "Please give a date."),
        ("day", "2026-02-30", "Please give a date."),
        ("day", 20260228, "Please give a date."),
    ],
)
def test_bad_answer_is_refused_at_its_item(code: str, raw: Any, error: str) -> None:
    assert errors({**GOOD, code: raw}) == {code: error}


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=50, deadline=None)
@given(raw=st.fixed_dictionaries({}, optional=dict.fromkeys(CODES, JSON)))
def test_anything_is_taken_or_refused_item_by_item(raw: dict[str, Any]) -> None:
    assert set(errors(raw)) <= set(CODES)


@settings(max_examples=50, deadline=None)
@given(raw=st.fixed_dictionaries({"pet": JSON}, optional={"name": JSON}))
def test_conditions_look_at_anything(raw: dict[str, Any]) -> None:
    refused: dict[str, str] = {}
    good: dict[str, Any] = {}
    try:
        good = checked(PETS, raw, codes=["pet", "name"])
    except InvalidAnswers as refusal:
        refused = refusal.errors
    assert set(refused) <= {"pet", "name"}
    assert bool(refused) is ("pet" not in good)


def test_unknown_items_are_refused() -> None:
    with pytest.raises(InvalidAnswers) as refusal:
        refuse_unknown({"like_1": 1, "other": 2}, codes=CODES)
    assert refusal.value.errors == {"other": "This question is not on this page."}


def test_required_item_is_asked_for_only_where_its_condition_holds() -> None:
    codes = ["pet", "name"]
    assert checked(PETS, {"pet": 1}, codes=codes) == {"pet": 1}
    with pytest.raises(InvalidAnswers) as refusal:
        checked(PETS, {"pet": 2}, codes=codes)
    assert list(refusal.value.errors) == ["name"]


def test_answer_to_a_hidden_item_is_left_out() -> None:
    assert checked(PETS, {"pet": 1, "name": "Mo"}, codes=["pet", "name"]) == {"pet": 1}
