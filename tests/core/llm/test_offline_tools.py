"""Rule-based tool calls and session logs, in both languages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.base import ChatMessage, Completion, Speaker, TextDelta, Tool
from memlab.core.llm.offline.tools import tool_calls
from memlab.core.values import Prompt, PromptTask, Section, Statement

TOOLS = tuple(
    Tool(name, "", {"type": "object"})
    for name in ("save_memory", "recall_memory", "weaken_memory", "update_memory", "forget_memory")
)


def _prompt(said: str, *known: str, language: str = "en") -> Prompt:
    return Prompt(
        task=PromptTask.REPLY,
        language=language,
        system="",
        messages=(ChatMessage(Speaker.USER, said),),
        sections=(Section(key="confirmed", title="t", lines=tuple(f"- {line}" for line in known)),),
    )


def _called(said: str, *known: str) -> list[tuple[str, dict[str, Any]]]:
    language = "en" if said.isascii() else "zh-hans"
    calls = tool_calls(_prompt(said, *known, language=language), TOOLS)
    return [(call.name, json.loads(call.arguments)) for call in calls]


def _save(content: str, category: str) -> tuple[str, dict[str, Any]]:
    return "save_memory", {"content": content, "category": category}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "I like dinosaurs and my name is Tom.",
            [_save("name: Tom", "event"), _save("likes dinosaurs", "preference")],
        ),
        ("I moved to Leeds last week.", [_save("lives in Leeds", "event")]),
        ("I am quite shy.", [_save("shy", "personality")]),
        ("I'm in fifth grade now", [_save("grade at school: fifth grade", "learning")]),
        ("If I moved to Leeds I would like it.", []),
        ("What do you think of this?", []),
        ("我喜欢篮球，比较内向", [_save("喜欢篮球", "preference"), _save("内向", "personality")]),
        ("我搬到成都了", [_save("住在成都", "event")]),
        (
            "我升五年级了，数学考了95分",
            [_save("年级：五年级", "learning"), _save("数学考了95分", "learning")],
        ),
        ("如果我搬到成都就好了", []),
    ],
)
def test_what_is_new_is_saved(said: str, expected: list[Any]) -> None:
    assert _called(said) == expected


@pytest.mark.parametrize(
    ("said", "known", "reason"),
    [
        ("Basketball is boring.", "[m1] [preference] likes basketball", "Basketball is boring."),
        (
            "I no longer like basketball!",
            "[m1] [preference] likes basketball",
            "I no longer like basketball!",
        ),
        ("I love maths now.", "[m1] [preference] dislikes maths", "I love maths now."),
        ("篮球好无聊", "[m1] [preference] 喜欢篮球", "篮球好无聊"),
        ("我不再喜欢篮球了", "[m1] [preference] 喜欢篮球", "我不再喜欢篮球了"),
    ],
)
def test_a_contradiction_weakens_a_liking(said: str, known: str, reason: str) -> None:
    assert _called(said, known)[0] == ("weaken_memory", {"memory": "m1", "reason": reason})


def test_a_contradiction_may_come_with_a_new_preference() -> None:
    assert _called("我不再喜欢篮球了，我喜欢游泳", "[m1] [preference] 喜欢篮球") == [
        ("weaken_memory", {"memory": "m1", "reason": "我不再喜欢篮球了"}),
        _save("喜欢游泳", "preference"),
    ]
    assert _called("I hate basketball.", "[m1] [preference] likes basketball") == [
        ("weaken_memory", {"memory": "m1", "reason": "I hate basketball."})
    ]


@pytest.mark.parametrize(
    ("said", "known", "content"),
    [
        ("Actually basketball is fine.", "[m1] [preference] likes basketball", "likes basketball"),
        ("其实篮球还行", "[m1] [preference] 喜欢篮球", "喜欢篮球"),
        ("我们去打篮球吧！", "[m1] [preference] 喜欢篮球", "喜欢篮球"),
    ],
)
def test_what_comes_up_again_is_saved_again(said: str, known: str, content: str) -> None:
    assert _called(said, known) == [_save(content, "preference")]


@pytest.mark.parametrize(
    ("said", "known", "content"),
    [
        ("I moved to Berlin.", "[m2] [event] lives in Leeds", "lives in Berlin"),
        ("我搬到成都了", "[m2] [event] 住在北京", "住在成都"),
        ("我升五年级了", "[m2] [learning] 年级：四年级", "年级：五年级"),
    ],
)
def test_another_value_of_a_fact_updates_it(said: str, known: str, content: str) -> None:
    assert _called(said, known) == [("update_memory", {"memory": "m2", "content": content})]


def test_what_is_taken_back_is_forgotten() -> None:
    assert _called("I was joking, I never said basketball.", "[m1] [preference] likes basketball")[
        0
    ] == (
        "forget_memory",
        {"memory": "m1", "reason": "I was joking, I never said basketball."},
    )


def test_a_question_about_oneself_looks_for_memories() -> None:
    assert _called("你还记得我住在哪里吗？") == [
        ("recall_memory", {"query": "你还记得我住在哪里吗？"})
    ]


def test_a_contradiction_of_nothing_shown_looks_for_what_it_contradicts() -> None:
    asked = "Basketball is boring."
    assert _called(asked) == [("recall_memory", {"query": asked})]
    prompt = _prompt(asked, "[m1] [preference] likes tea")
    (call,) = tool_calls(prompt, TOOLS)
    found = {
        "memories": [
            {"memory": "m2", "content": "likes basketball", "category": "preference"},
            {"memory": "m1", "content": "likes tea", "category": "preference"},
        ]
    }
    messages = (
        *prompt.messages,
        ChatMessage(Speaker.ASSISTANT, "", tool_calls=(call,)),
        ChatMessage(Speaker.TOOL, json.dumps(found), tool_call_id=call.id),
    )
    second = replace(prompt, messages=messages)
    (weaken,) = tool_calls(second, TOOLS)
    assert (weaken.name, json.loads(weaken.arguments)) == (
        "weaken_memory",
        {"memory": "m2", "reason": asked},
    )
    third = (
        *messages,
        ChatMessage(Speaker.ASSISTANT, "", tool_calls=(weaken,)),
        ChatMessage(Speaker.TOOL, "{}", tool_call_id=weaken.id),
    )
    assert tool_calls(replace(prompt, messages=third), TOOLS) == ()


def test_only_offered_tools_are_called() -> None:
    prompt = _prompt("Basketball is boring.", "[m1] [preference] likes basketball")
    assert tool_calls(prompt, TOOLS[:1]) == ()
    assert tool_calls(prompt, ()) == ()


async def _streamed(prompt: Prompt) -> tuple[str, Completion]:
    text, completion = "", None
    async for part in open_model("offline", "offline-1").stream(prompt, tools=TOOLS):
        if isinstance(part, TextDelta):
            text += part.text
        else:
            completion = part
    assert completion is not None
    return text, completion


async def test_a_reply_calls_first_and_answers_from_the_results() -> None:
    prompt = _prompt("Do you remember where I live?")
    text, completion = await _streamed(prompt)
    assert (text, completion.finish_reason) == ("", "tool_calls")
    (call,) = completion.tool_calls
    found = {"memories": [{"memory": "m1", "content": "I live in Leeds"}]}
    answered = Prompt(
        task=PromptTask.REPLY,
        language="en",
        system="",
        messages=(
            *prompt.messages,
            ChatMessage(Speaker.ASSISTANT, "", tool_calls=(call,)),
            ChatMessage(Speaker.TOOL, json.dumps(found), tool_call_id=call.id),
        ),
    )
    text, completion = await _streamed(answered)
    assert completion.tool_calls == ()
    assert text == ("[Offline demo model] Here is what I have on that: “I live in Leeds”.")


async def test_a_finished_turns_calls_are_json() -> None:
    prompt = Prompt(
        task=PromptTask.CALL_TOOLS,
        language="zh-hans",
        system="",
        messages=(),
        sections=(Section(key="confirmed", title="t", lines=("- [m1] [preference] 喜欢篮球",)),),
        material=(Statement(id="a", text="篮球好无聊。我叫什么？"),),
    )
    completion = await open_model("offline", "offline-1").complete(prompt, json=True)
    assert json.loads(completion.text) == {
        "calls": [
            {"name": "weaken_memory", "arguments": {"memory": "m1", "reason": "篮球好无聊。"}}
        ]
    }


@pytest.mark.parametrize(
    ("language", "said", "expected"),
    [
        (
            "en",
            ["Hello.", "My grandmother died, I am heartbroken.", "Is it late?", "I like tea."],
            {"text": "My grandmother died, I am heartbroken; I like tea", "messages": ["1", "3"]},
        ),
        (
            "zh-hans",
            ["说实话，我对未来很迷茫。"],
            {"text": "说实话，我对未来很迷茫", "messages": ["0"]},
        ),
        ("en", ["How are you?"], None),
    ],
)
async def test_a_sessions_log_is_what_mattered_most(
    language: str, said: list[str], expected: dict[str, Any] | None
) -> None:
    prompt = Prompt(
        task=PromptTask.WRITE_LOG,
        language=language,
        system="",
        messages=(),
        material=tuple(Statement(id=str(n), text=text) for n, text in enumerate(said)),
    )
    completion = await open_model("offline", "offline-1").complete(prompt, json=True)
    assert json.loads(completion.text) == {"entries": [expected] if expected else []}
