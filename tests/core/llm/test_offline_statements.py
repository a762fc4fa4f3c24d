"""Statements, summaries and mergers by rule: the participant's own words, in both languages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.offline.statements import shortened_text
from memlab.core.values import Prompt, PromptTask, Section, Statement


async def answered(task: PromptTask, *texts: str) -> list[dict[str, Any]]:
    prompt = Prompt(
        task=task,
        language="zh-hans",
        system="",
        messages=(),
        sections=(Section(key="compressed", title="t", lines=("我对花生过敏。", "I love chess.")),),
        material=tuple(Statement(id=f"m{n}", text=text) for n, text in enumerate(texts)),
    )
    completion = await open_model("offline", "offline-1").complete(prompt, json=True)
    (items,) = json.loads(completion.text).values()
    return list(items)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "你好！我叫张三，是一名AI工程师，目前在北京工作。你呢？",
            [
                {
                    "message": "m0",
                    "text": "我叫张三，是一名AI工程师，目前在北京工作。",
                    "topic": "名字",
                    "tags": [
                        {"dimension": "姓名", "value": "张三"},
                        {"dimension": "职业", "value": "AI工程师"},
                        {"dimension": "单位", "value": "北京"},
                    ],
                }
            ],
        ),
        (
            "Hello there. I'm a nurse. I had soup today! Do you like soup?",
            [
                {
                    "message": "m0",
                    "text": "I'm a nurse.",
                    "topic": "work",
                    "tags": [{"dimension": "occupation", "value": "nurse"}],
                },
                {
                    "message": "m0",
                    "text": "I had soup today!",
                    "topic": "other",
                    "tags": [{"dimension": "other", "value": "I had soup today"}],
                },
            ],
        ),
        ("The weather is nice. 天气真好。How are you?", []),
        ("I think so. 我也这么想。我知道了。", []),
        ("", []),
    ],
)
async def test_statements_are_sentences_in_the_first_person(
    said: str, expected: list[dict[str, Any]]
) -> None:
    assert await answered(PromptTask.EXTRACT_STATEMENTS, said) == expected


async def test_a_tag_without_a_trait_is_what_the_speaker_says_of_themselves() -> None:
    items = await answered(
        PromptTask.EXTRACT_STATEMENTS,
        "晚上好，我把旧吉他断掉的弦换了。",
        "Walter helped, and I covered the beds with thick old curtains.",
    )
    assert [item["tags"][0]["value"] for item in items] == [
        "我把旧吉他断掉的弦换了",
        "and I covered the beds with thick old",
    ]


async def test_a_statement_names_its_own_message() -> None:
    items = await answered(PromptTask.EXTRACT_STATEMENTS, "I live in Rome.", "My cat is ill.")
    assert [(item["message"], item["text"]) for item in items] == [
        ("m0", "I live in Rome."),
        ("m1", "My cat is ill."),
    ]


async def test_an_overlong_sentence_is_cut_and_nothing_of_it_lost() -> None:
    items = await answered(PromptTask.EXTRACT_STATEMENTS, "我" + "画山水树木" * 140)
    assert [len(item["text"]) for item in items] == [300, 300, 101]


@pytest.mark.parametrize(
    ("full", "summary"),
    [
        ("我叫张三，是一名AI工程师，目前在北京工作", "我叫张三，是一名AI工程师…"),
        ("I am a nurse in Leeds, I work nights, and I like it.", "I am a nurse in Leeds…"),
        ("I like coffee.", "I like coffee."),
        ("", ""),
    ],
)
async def test_a_summary_is_the_beginning_of_a_text(full: str, summary: str) -> None:
    assert shortened_text(full) == summary
    assert await answered(PromptTask.SUMMARISE, full) == [{"id": "m0", "text": summary}]


@pytest.mark.parametrize(
    ("earlier", "now", "text"),
    [
        ("#职业:工程师", "我是AI工程师张三", "我是AI工程师张三"),
        ("#职业:工程师 #地点:北京", "我是AI工程师张三", "#地点:北京；我是AI工程师张三"),
        ("I am a nurse.", "I work nights.", "I am a nurse. I work nights."),
        ("我是护士", "我上夜班", "我是护士；我上夜班"),
        ("I am a nurse and work nights.", "I am a nurse", "I am a nurse and work nights."),
        ("I am a nurse", "I am a nurse and work nights.", "I am a nurse and work nights."),
    ],
)
async def test_a_merger_says_both_and_nothing_twice(earlier: str, now: str, text: str) -> None:
    (item,) = await answered(PromptTask.MERGE_STATEMENTS, earlier, now)
    assert item["text"] == text


async def test_a_merger_keeps_the_tags_of_both() -> None:
    (item,) = await answered(PromptTask.MERGE_STATEMENTS, "#residence:Rome", "I'm a nurse.")
    assert item["topic"] == "work"
    assert item["tags"] == [
        {"dimension": "occupation", "value": "nurse"},
        {"dimension": "residence", "value": "Rome"},
    ]
