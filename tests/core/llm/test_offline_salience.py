"""Ratings by lexicon put the seed's examples where they belong, in both languages."""

from __future__ import annotations

import json

import pytest

from memlab.core.llm import open_model
from memlab.core.values import Prompt, PromptTask, Statement


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("今天天气不错", (0.0, 0.0, 0.0)),
        ("今天吃了面包", (0.0, 0.0, 0.0)),
        ("我是学生", (0.0, 0.2, 0.0)),
        ("呵呵，随便吧", (0.3, 0.2, 0.0)),
        ("家人对我来说是最重要的", (0.0, 0.1, 0.9)),
        ("我太开心了！", (0.9, 0.3, 0.0)),
        ("说实话，我对未来很迷茫", (0.7, 0.7, 0.7)),
        ("我从没告诉过别人，我很害怕失败", (0.8, 1.0, 0.6)),
        ("The weather is nice today", (0.0, 0.0, 0.0)),
        ("Whatever, who cares", (0.3, 0.2, 0.0)),
        ("Honestly, I feel lost about my future", (0.7, 0.7, 0.7)),
        ("I've never told anyone, but I'm terrified of failing", (0.8, 1.0, 0.6)),
    ],
)
async def test_statement_is_rated(said: str, expected: tuple[float, float, float]) -> None:
    prompt = Prompt(
        task=PromptTask.RATE_SALIENCE,
        language="zh-hans",
        system="",
        messages=(),
        material=(Statement(id="m7", text=said),),
    )
    completion = await open_model("offline", "offline-1").complete(prompt, json=True)
    (rating,) = json.loads(completion.text)["ratings"]
    assert rating == {
        "message": "m7",
        "intensity": expected[0],
        "self_disclosure": expected[1],
        "value_relevance": expected[2],
    }
