"""Conditions: what is read, what is refused, and when an item is shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given, settings
from hypothesis import strategies as st

from questionnaires.conditions import holds, parse, told
from questionnaires.content import Condition


@pytest.mark.parametrize(
    ("text", "item", "operator", "value"),
    [
        ("mood_1 >= 4", "mood_1", ">=", 4),
        ("mood_1>=4", "mood_1", ">=", 4),
        ("pet in 1, 3", "pet", "in", [1, 3]),
        ("pet in 2", "pet", "in", [2]),
        ("index == 3", "index", "==", 3),
        ("share < 0.5", "share", "<", 0.5),
        ("shift != -2", "shift", "!=", -2),
        ("pet_name == Rex", "pet_name", "==", "Rex"),
        ('pet_name == "old cat"', "pet_name", "==", "old cat"),
        ("pet_name in 'a b', c", "pet_name", "in", ["a b", "c"]),
        ("born < 2001-09-11", "born", "<", "2001-09-11"),
        ("猫 == 1".replace("猫", "cat"), "cat", "==", 1),
    ],
)
def test_a_condition_is_read(text: str, item: str, operator: str, value: Any) -> None:
    assert parse(text) == Condition(item=item, operator=operator, value=value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mood_1", "is no condition"),
        ("4 <= mood_1", "is no condition"),
        ("mood_1 = 4", "Write == to compare"),
        ("mood_1 >= four", "compares the size of a text"),
        ("mood_1 >=", "can't be read"),
        ("pet in 1,, 3", "can't be read"),
        ("mood_1 >= 4 and pet == 1", "There is one comparison to a condition"),
        ("mood_1 == 4; drop", "can't be read"),
        ("mood_1 >= " + 400 * "9", "can't be read"),  # more than a number can be
        ("", "is no condition"),
    ],
)
def test_what_is_no_condition_is_refused_with_a_remedy(text: str, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        parse(text)
    assert said in refused.value.messages[0]


@pytest.mark.parametrize(
    ("text", "answers", "shown"),
    [
        ("mood >= 4", {"mood": 4.0}, True),
        ("mood >= 4", {"mood": 3.0}, False),
        ("mood >= 4", {"mood": None}, False),
        ("mood != 4", {}, False),  # not shown fulfils nothing
        ("pet in 1, 3", {"pet": 3}, True),
        ("pet in 1, 3", {"pet": 2}, False),
        ("pets == 2", {"pets": [1, 2]}, True),
        ("pets in 4, 2", {"pets": [1, 2]}, True),
        ("pets != 3", {"pets": [1, 2]}, True),
        ("pets != 2", {"pets": [1, 2]}, False),
        ("pets != 2", {"pets": []}, False),
        ("name == Rex", {"name": "Rex"}, True),
        ("name != Rex", {"name": "Bo"}, True),
        ("name == Rex", {"name": ""}, False),
        ("born < 2001-09-11", {"born": "1999-12-31"}, True),
        ("mood > 4", {"mood": "high"}, False),  # never compared across kinds
    ],
)
def test_a_condition_holds_or_not(text: str, answers: dict[str, Any], shown: bool) -> None:
    assert holds(parse(text), answers) is shown


def test_no_condition_always_holds() -> None:
    assert holds(None, {}) is True


values = st.one_of(
    st.integers(-999, 999),
    st.sampled_from([0.5, -2.25]),
    st.text("abc é猫-_.", min_size=1, max_size=8).filter(lambda text: text.strip() == text),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(values, min_size=1, max_size=4), st.sampled_from(["==", "!=", "in"]))
def test_what_is_told_is_read_again(several: list[Any], operator: str) -> None:
    condition = Condition(
        item="mood_1", operator=operator, value=several if operator == "in" else several[0]
    )
    assert parse(told(condition)) == condition
