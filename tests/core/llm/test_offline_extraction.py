"""Rule-based extraction: only what was said, in both languages, nothing known twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memlab.core.llm import open_model
from memlab.core.values import Prompt, PromptTask, Section, Statement


async def _traits(*texts: str, known: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    prompt = Prompt(
        task=PromptTask.EXTRACT_PROFILE,
        language="zh-hans",
        system="",
        messages=(),
        sections=(Section(key="profile", title="t", lines=("我对花生过敏", "I love chess")),),
        material=tuple(Statement(id=f"m{n}", text=text) for n, text in enumerate(texts)),
        known=known,
    )
    completion = await open_model("offline", "offline-1").complete(prompt, json=True)
    traits: list[dict[str, Any]] = json.loads(completion.text)["traits"]
    return traits


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "我叫小明，今年25岁，是一名博士生",
            [
                ("basic_info", "name", "小明", None),
                ("basic_info", "age", "25", None),
                ("basic_info", "occupation", "博士生", None),
            ],
        ),
        (
            "我喜欢爬山，也喜欢看电影",
            [
                ("preferences", None, "喜欢爬山", None),
                ("preferences", None, "喜欢看电影", None),
            ],
        ),
        ("我不喜欢吃香菜", [("preferences", None, "不喜欢吃香菜", None)]),
        ("我对海鲜过敏", [("constraints", None, "对海鲜过敏", None)]),
        ("我正在准备考博", [("goals", None, "准备考博", None)]),
        ("我比较内向", [("personality", None, "内向", None)]),
        ("我养了一只猫", [("social", None, "养了一只猫", None)]),
        ("我希望被理解和认可", [("emotional_needs", None, "希望被理解和认可", None)]),
        ("家人对我来说最重要", [("core_values", None, "家人最重要", None)]),
        ("说实话，我对未来很迷茫", [("significant_events", None, "对未来很迷茫", "迷茫")]),
        ("我妈妈住院了", [("significant_events", None, "妈妈住院", None)]),
        ("My name is Emily. Nice to meet you.", [("basic_info", "name", "Emily", None)]),
        (
            "I'm a nurse and I live in Leeds",
            [
                ("basic_info", "occupation", "nurse", None),
                ("basic_info", "residence", "Leeds", None),
            ],
        ),
        (
            "I enjoy painting, playing the piano and tea.",
            [("preferences", None, "enjoys painting, playing the piano and tea", None)],
        ),
        ("I'm allergic to seafood", [("constraints", None, "allergic to seafood", None)]),
        ("I want to learn the guitar", [("goals", None, "wants to learn the guitar", None)]),
        ("I'm pretty introverted", [("personality", None, "introverted", None)]),
        ("I have a black cat called Miso", [("social", None, "has a black cat", None)]),
        (
            "Nobody understands me",
            [("emotional_needs", None, "feels that nobody understands me", None)],
        ),
        ("I care about honesty", [("core_values", None, "cares about honesty", None)]),
        (
            "I feel lost about my future",
            [("significant_events", None, "lost about my future", "lost")],
        ),
        (
            "My grandmother passed away last week",
            [("significant_events", None, "grandmother passed away last week", None)],
        ),
    ],
)
async def test_statement_yields_its_traits(
    said: str, expected: list[tuple[str, str | None, str, str | None]]
) -> None:
    found = await _traits(said)
    assert [(t["dimension"], t["key"], t["text"], t["emotion"]) for t in found] == expected
    assert {t["message"] for t in found} == {"m0"}


@pytest.mark.parametrize(
    "said",
    [
        "今天天气不错",
        "呵呵，随便吧",
        "你喜欢爬山吗？",
        "我喜欢什么？",
        "如果我喜欢爬山，会怎么样",
        "我不害怕失败",
        "我叫外卖了",
        "他说他喜欢猫",
        "The weather is nice today",
        "Do I like hiking?",
        "If I like hiking, so what",
        "I'm not afraid of failing",
        "She likes hiking",
        "",
    ],
)
async def test_nothing_is_invented(said: str) -> None:
    assert await _traits(said) == []


async def test_sections_are_never_read() -> None:
    assert await _traits() == []


async def test_the_statement_before_a_question_counts() -> None:
    (trait,) = await _traits("我很喜欢绘画、弹钢琴和品茶，你有什么好的书可以推荐吗？")
    assert trait["text"] == "喜欢绘画、弹钢琴和品茶"


async def test_known_and_repeated_traits_are_left_out() -> None:
    found = await _traits(
        "我喜欢爬山",
        "我喜欢爬山！",
        "我对海鲜过敏",
        "我叫小明",
        known=("限制：对海鲜过敏", "name: 小明"),
    )
    assert [(t["text"], t["message"]) for t in found] == [("喜欢爬山", "m0")]
