"""Items by rule: each in its bin, from the right mouth, in both languages."""

from __future__ import annotations

import json

import pytest

from memlab.core.llm import open_model
from memlab.core.values import Prompt, PromptTask, Statement

CALM = "Alright, I follow you. What happened next?"


async def items(
    said: str, reply: str | None = None, known: tuple[str, ...] = ()
) -> list[tuple[str, str, str]]:
    material = [Statement(id="said", text=said)]
    if reply is not None:
        material.append(Statement(id="reply", text=reply))
    prompt = Prompt(
        task=PromptTask.EXTRACT_BINNED,
        language="en",
        system="",
        messages=(),
        material=tuple(material),
        known=known,
    )
    completion = await open_model("offline", "offline-1").complete(prompt, json=True)
    return [(i["bin"], i["text"], i["message"]) for i in json.loads(completion.text)["items"]]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "I'm a nurse and I love hiking. We have a small garden behind the house.",
            ["I'm a nurse and I love hiking", "We have a small garden behind the house"],
        ),
        (
            "我是一名护士，我喜欢爬山。昨天我去了图书馆。",
            ["我是一名护士，我喜欢爬山", "昨天我去了图书馆"],
        ),
        ("I'm allergic to nuts", ["I'm allergic to nuts"]),
        ("I love hiking.", []),
        ("The weather is nice.", []),
        ("Do I like hiking?", []),
        ("If I were a nurse, I would work at night.", []),
        ("I don't want to talk about my father.", []),
        ("I'm so afraid of the exam.", []),
    ],
)
async def test_without_the_reply_only_facts_are_kept(said: str, expected: list[str]) -> None:
    assert await items(said) == [("fact", text, "said") for text in expected]


async def test_with_the_reply_all_bins_are_filled() -> None:
    said = (
        "I'm a nurse. I love hiking. I don't want to talk about my father. "
        "I feel lost about my future. Exams make me nervous. I promise to call my sister."
    )
    assert await items(said, CALM) == [
        ("fact", "I'm a nurse", "said"),
        ("relation", "I love hiking", "said"),
        ("relation", "I don't want to talk about my father", "said"),
        ("affect", "I feel lost about my future", "said"),
        ("affect", "Exams make me nervous", "said"),
        ("relation", "I promise to call my sister", "said"),
        ("style", "brief, asks back", "reply"),
    ]


async def test_with_the_reply_all_bins_are_filled_in_chinese() -> None:
    said = "我是一名护士。我喜欢爬山。我不想谈我爸爸。说实话，我对未来很迷茫。考试让我很紧张。"
    assert await items(said, "听起来不容易。后来怎么样了？") == [
        ("fact", "我是一名护士", "said"),
        ("relation", "我喜欢爬山", "said"),
        ("relation", "我不想谈我爸爸", "said"),
        ("affect", "说实话，我对未来很迷茫", "said"),
        ("affect", "考试让我很紧张", "said"),
        ("style", "简短，先回应感受，反问一句", "reply"),
    ]


async def test_what_is_known_is_left_out() -> None:
    assert await items("I'm a nurse.", known=("I'm a nurse",)) == []


async def test_what_the_reply_says_is_never_about_the_participant() -> None:
    found = await items("ok", "You said: I'm a nurse, I love hiking and I'm allergic to nuts.")
    assert [bin_ for bin_, _text, _message in found] == ["style"]
