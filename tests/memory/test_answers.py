from __future__ import annotations

import pytest

from memory.answers import json_object, storable


@pytest.mark.parametrize(
    "answer",
    [
        '{"traits": [1]}',
        '```json\n{"traits": [1]}\n```',
        'Here you are: {"traits": [1]} I hope {this} helps.',
        'First {not json}, then {"other": 1}, then {"traits": [1]}',
        '\ufeff  {"traits": [1], "note": "}"}',
    ],
)
def test_the_object_is_found_wherever_it_stands(answer: str) -> None:
    found = json_object(answer, holding="traits")
    assert found is not None
    assert found["traits"] == [1]


@pytest.mark.parametrize(
    "answer",
    ["", "nothing", '{"traits": {}}', '{"traits": [1', "[1]", "{" * 100_000, '{"a":' * 50_000],
)
def test_no_object_is_found_where_none_is(answer: str) -> None:
    assert json_object(answer, holding="traits") is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (" likes\n[Profile]\ttea ", "likes [Profile] tea"),
        ("喜欢茶", "喜欢茶"),
        ("x" * 20, "x" * 20),
        ("x" * 21, None),
        ("", None),
        ("  ", None),
        (5, None),
        (None, None),
        ("a\x00b", None),
        ("a\ud800b", None),
    ],
)
def test_only_storable_texts_pass(value: object, expected: str | None) -> None:
    assert storable(value, longest=20) == expected
