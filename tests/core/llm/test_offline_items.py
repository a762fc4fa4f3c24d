from __future__ import annotations

import json
from typing import Any

import pytest

from memlab.core.llm.offline.items import extracted_items
from memlab.core.values import Statement


def items(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(extracted_items([Statement(id="m", text=text)]))[
        "items"
    ]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm a nurse and I live in Oslo.", [("I'm a nurse and I live in Oslo", 0.9)]),
        (
            "My cat Miso is ill, and I am so worried. I had bread today.",
            [("My cat Miso is ill, and I am so worried", 0.92), ("I had bread today", 0.2)],
        ),
        ("I'm allergic to peanuts. Thanks!", [("I'm allergic to peanuts", 0.9)]),
        (
            "我对花生过敏。今天吃了面包和水果。",
            [("我对花生过敏", 0.9), ("今天吃了面包和水果", 0.2)],
        ),
        ("我喜欢周末爬山", [("我喜欢周末爬山", 0.5)]),
        ("我打算明年去京都读书，你觉得呢？", [("我打算明年去京都读书", 0.7)]),
    ],
)
def test_a_statement_is_an_item_as_important_as_what_it_tells(
    text: str, expected: list[tuple[str, float]]
) -> None:
    assert [(item["text"], item["importance"]) for item in items(text)] == expected
    assert {item["message"] for item in items(text)} == {"m"}


@pytest.mark.parametrize(
    "text",
    ["Hello there!", "Thanks a lot.", "What do you think?", "If I were rich, I would travel.",
     "Yes.", "", "你好！", "谢谢你", "你喜欢什么？", "如果我有钱，我就去旅行。", "嗯嗯", "???"],
)  # fmt: skip
def test_courtesies_questions_and_suppositions_are_no_items(text: str) -> None:
    assert items(text) == []


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("I'm allergic to peanuts", ["allergic", "peanuts"]),
        ("我的猫叫年糕，它生病了", ["猫", "生病", "年糕"]),
        ("我是一名护士，住在上海", ["护士", "上海"]),
    ],
)
def test_keywords_are_what_one_would_ask_with(text: str, keywords: list[str]) -> None:
    assert items(text)[0]["keywords"] == keywords


def test_a_long_message_keeps_to_the_bounds() -> None:
    for item in items("I like tea and " + "very much so and again " * 200 + "."):
        assert len(item["text"]) <= 160
        assert len(item["keywords"]) <= 5
