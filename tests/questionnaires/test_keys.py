"""Scoring keys of scales whose wording is not ours: what is scored how, and that no word is in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from questionnaires.checks import problems
from questionnaires.content import Text
from questionnaires.keys import scoring_keys
from questionnaires.scoring import scored, subscales

#: Of each key: its subscales with the numbers of their items, and the reversed ones.
PUBLISHED = {
    "ucla_loneliness_3": (
        {"loneliness": list(range(1, 21))},
        [1, 5, 6, 9, 10, 15, 16, 19, 20],
    ),
    "trust_automation": (
        {"distrust": [1, 2, 3, 4, 5], "trust": [6, 7, 8, 9, 10, 11, 12]},
        [],
    ),
    "panas": (
        {
            "positive": [1, 3, 5, 9, 10, 12, 14, 16, 17, 19],
            "negative": [2, 4, 6, 7, 8, 11, 13, 15, 18, 20],
        },
        [],
    ),
    "bfi_10": (
        {
            "extraversion": [1, 6],
            "agreeableness": [2, 7],
            "conscientiousness": [3, 8],
            "neuroticism": [4, 9],
            "openness": [5, 10],
        },
        [1, 3, 4, 5, 7],
    ),
}


def number(code: str) -> int:
    return int(code.rpartition("_")[2])


def test_the_keys_are_the_published_ones() -> None:
    assert set(scoring_keys()) == set(PUBLISHED)
    for name, (scales, turned) in PUBLISHED.items():
        content = scoring_keys()[name].content
        assert {
            scale: [number(item.code) for item in items]
            for scale, items in subscales(content).items()
        } == scales
        assert [number(item.code) for item in content.items if item.reverse] == turned
        assert content.citation
        assert scoring_keys()[name].licence
        assert not content.validated


def test_no_word_of_the_items_is_shipped_and_so_none_can_be_asked() -> None:
    for key in scoring_keys().values():
        content = key.in_languages("en")
        assert {(item.text, item.low, item.high, item.options) for item in content.items} == {
            (Text(), Text(), Text(), ())
        }
        assert [each.field for each in problems(content)] == ["text_en"] * len(content.items)


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [
        ("ucla_loneliness_3", 1.0, {"loneliness": 47.0}),  # 11 · 1 + 9 · 4
        ("ucla_loneliness_3", 4.0, {"loneliness": 53.0}),  # 11 · 4 + 9 · 1
        ("trust_automation", 6.0, {"distrust": 6.0, "trust": 6.0}),
        ("panas", 2.0, {"positive": 20.0, "negative": 20.0}),
        (
            "bfi_10",
            5.0,
            {
                "extraversion": 3.0,
                "agreeableness": 3.0,
                "conscientiousness": 3.0,
                "neuroticism": 3.0,
                "openness": 3.0,
            },
        ),
    ],
)
def test_the_keys_score_as_published(name: str, answer: float, expected: dict[str, float]) -> None:
    content = scoring_keys()[name].content
    result = scored(content, {item.code: answer for item in content.items})
    assert {each.subscale: each.value for each in result.scores} == expected


def test_with_its_words_a_key_can_be_asked() -> None:
    content = scoring_keys()["bfi_10"].in_languages("zh")
    worded = replace(
        content, items=tuple(replace(item, text=Text(zh=item.code)) for item in content.items)
    )
    assert problems(worded) == ()
