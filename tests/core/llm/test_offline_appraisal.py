"""Appraisal by lexicon: an attack is told from sorrow, and the partner from everybody else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memlab.core.llm import open_model
from memlab.core.values import Prompt, PromptTask, Statement
from tests.memory.polite import POLITE


async def appraised(text: str) -> dict[str, Any]:
    prompt = Prompt(
        task=PromptTask.APPRAISE,
        language="en",
        system="",
        messages=(),
        material=(Statement(id="m", text=text),),
    )
    completion = await open_model("offline", "offline-1").complete(prompt, json=True)
    (appraisal,) = json.loads(completion.text)["appraisals"]
    assert appraisal.pop("message") == "m"
    return dict(appraisal)


@pytest.mark.parametrize(
    ("text", "valence", "offensiveness", "events"),
    [
        ("The weather is nice today.", 0.0, 0.0, []),
        ("今天天气不错。", 0.0, 0.0, []),
        ("Thank you, you are so kind!", 0.5, 0.0, ["gratitude", "praise"]),
        ("谢谢你，你真贴心！", 0.5, 0.0, ["gratitude", "praise"]),
        ("I really like talking to you.", 0.6, 0.0, ["affection"]),
        ("我很喜欢和你聊天", 0.6, 0.0, ["affection"]),
        ("I'm happy, I passed my exam", 0.3, 0.0, ["joy"]),
        ("I'm so afraid of failing", -0.48, 0.0, ["disclosure", "distress"]),
        ("我很害怕考试失败", -0.48, 0.0, ["disclosure", "distress"]),
        ("I am not happy about it", -0.15, 0.0, ["distress"]),
        ("我不开心", -0.15, 0.0, ["distress"]),
        ("我不害怕", 0.24, 0.0, ["joy"]),
        ("My dog passed away", -0.5, 0.0, ["loss"]),
        ("You're wrong, you never listen", -0.5, 0.4, ["criticism"]),
        ("你说错了，根本不懂", -0.5, 0.4, ["criticism"]),
        ("Shut up, you stupid bot", -0.8, 0.9, ["insult"]),
        ("你这个笨蛋，闭嘴！", -0.8, 0.9, ["insult"]),
        ("I will report you", -0.7, 0.8, ["threat_like"]),
        ("我要投诉你", -0.7, 0.8, ["threat_like"]),
        ("Leave me alone.", -0.5, 0.4, ["rejection"]),
        ("别烦我", -0.5, 0.4, ["rejection"]),
        ("I don't want to talk about my father.", -0.1, 0.0, ["boundary"]),
        ("我不想谈我爸爸", -0.1, 0.0, ["boundary"]),
    ],
)
async def test_what_is_heard(
    text: str, valence: float, offensiveness: float, events: list[str]
) -> None:
    assert await appraised(text) == {
        "valence": valence,
        "offensiveness": offensiveness,
        "boundary": bool({"boundary", "rejection"} & set(events)),
        "events": events,
    }


@pytest.mark.parametrize(
    "text",
    [
        "I feel so stupid",
        "我真笨",
        "My boss is an idiot",
        "我老板是个白痴",
        "He said “shut up” to me",
        "他对我说“闭嘴”",
        "我想你帮我看看这个",
        "Don't you think it is a stupid film?",
        "我把土豆滚了一层面粉",
        "我想问问你喜欢什么",
    ],
)
async def test_what_is_no_attack_on_the_partner(text: str) -> None:
    assert (await appraised(text))["offensiveness"] == 0.0


@pytest.mark.parametrize("text", POLITE)
async def test_politeness_is_never_unpleasant(text: str) -> None:
    heard = await appraised(text)
    assert heard["valence"] >= 0.0
    assert heard["offensiveness"] == 0.0
