"""What a reply looks like when all goes well, with each real SDK."""

from __future__ import annotations

import asyncio

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.base import (
    ChatMessage,
    Completion,
    LanguageModel,
    Sampling,
    Speaker,
    TextDelta,
    Tool,
    ToolCall,
    Usage,
)
from memlab.core.values import Prompt, PromptTask
from tests.standin import Answer, Fault, ScriptedCall, StandIn

SAVE = Tool(
    "save_memory",
    "Remember a fact.",
    {"type": "object", "properties": {"content": {"type": "string"}}},
)


async def test_reply_streams_piece_by_piece_and_ends_with_one_completion(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(text="爬山感觉怎么样?")])

    events = [event async for event in model.stream(prompt)]

    assert [event.text for event in events[:-1]] == ["爬", "山", "感", "觉", "怎", "么", "样", "?"]
    assert all(isinstance(event, TextDelta) for event in events[:-1])
    completion = events[-1]
    assert isinstance(completion, Completion)
    assert completion.text == "爬山感觉怎么样?"
    assert completion.finish_reason == "stop"
    assert completion.usage == Usage(prompt_tokens=11, completion_tokens=7)
    assert completion.request_id in ("5c1d0f8e-standin", "chatcmpl-standin")


async def test_completion_names_the_model_that_answered(standin: StandIn, prompt: Prompt) -> None:
    model = open_model(
        "openai_compatible",
        "deepseek-chat",
        base_url=standin.openai_url,
        allowed_base_urls=[standin.openai_url],
    )
    completion = await model.complete(prompt)
    await model.aclose()
    assert (model.model, completion.model) == ("deepseek-chat", "standin-2026-11-01")


async def test_request_carries_the_system_text_the_conversation_and_the_labs_key(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    await model.complete(
        prompt, sampling=Sampling(temperature=0.3, top_p=0.9, max_tokens=200, seed=7)
    )

    (request,) = standin.requests
    assert request.headers["authorization"] == "Bearer sk-lab-one"
    body = request.body
    conversation = body["input"]["messages"] if model.provider == "dashscope" else body["messages"]
    assert [(message["role"], message["content"]) for message in conversation] == [
        ("system", "你是研究里的聊天伙伴。"),
        ("user", "今天去爬山了"),
    ]
    parameters = body["parameters"] if model.provider == "dashscope" else body
    assert (parameters["temperature"], parameters["top_p"]) == (0.3, 0.9)
    assert (parameters["max_tokens"], parameters["seed"]) == (200, 7)
    if model.provider == "dashscope":
        assert (parameters["incremental_output"], parameters["result_format"]) == (True, "message")


async def test_keys_and_addresses_never_come_from_the_environment(
    standin: StandIn, prompt: Prompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "DASHSCOPE_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "DASHSCOPE_WORKSPACE",
    ):
        monkeypatch.setenv(name, "of-somebody-else")
    monkeypatch.setenv("DASHSCOPE_PROTOCOL", "openai")
    for provider, url in (
        ("dashscope", standin.dashscope_url),
        ("openai_compatible", standin.openai_url),
    ):
        model = open_model(provider, "m", api_key="sk-two", base_url=url, allowed_base_urls=[url])
        await model.complete(prompt)
        await model.aclose()
    assert [request.headers["authorization"] for request in standin.requests] == [
        "Bearer sk-two"
    ] * 2
    assert "of-somebody-else" not in repr(standin.requests)


async def test_tool_calls_are_put_together_from_fragments(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    calls = (
        ScriptedCall(
            id="call_a",
            name="save_memory",
            arguments='{"content": "喜欢爬山", "category": "preference"}',
        ),
        ScriptedCall(id="call_b", name="recall_memory", arguments='{"query": broken'),
    )
    standin.script([Answer(tool_calls=calls)])

    (completion,) = [event async for event in model.stream(prompt, tools=[SAVE])]

    assert isinstance(completion, Completion)
    assert completion.finish_reason == "tool_calls"
    assert completion.tool_calls == (
        ToolCall("call_a", "save_memory", '{"content": "喜欢爬山", "category": "preference"}'),
        ToolCall("call_b", "recall_memory", '{"query": broken'),
    )
    body = standin.requests[0].body
    sent = body["parameters"]["tools"] if model.provider == "dashscope" else body["tools"]
    assert sent[0]["function"]["name"] == "save_memory"


async def test_text_may_come_before_the_calls_of_a_message(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    call = ScriptedCall(id="call_a", name="save_memory", arguments="{}")
    standin.script([Answer(pieces=("Let me ", "see."), tool_calls=(call,))])
    *said, completion = [event async for event in model.stream(prompt, tools=[SAVE])]
    assert [event.text for event in said if isinstance(event, TextDelta)] == ["Let me ", "see."]
    assert isinstance(completion, Completion)
    assert completion.text == "Let me see."
    assert [each.name for each in completion.tool_calls] == ["save_memory"]


async def test_calls_that_share_an_index_are_told_apart_by_their_ids(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    calls = tuple(
        ScriptedCall(id=f"call_{word}", name="save_memory", arguments=f'{{"content": "{word}"}}',
                     index=0)
        for word in ("cats", "dogs")
    )  # fmt: skip
    standin.script([Answer(tool_calls=calls)])
    (completion,) = [event async for event in model.stream(prompt, tools=[SAVE])]
    assert isinstance(completion, Completion)
    assert completion.tool_calls == (
        ToolCall("call_cats", "save_memory", '{"content": "cats"}'),
        ToolCall("call_dogs", "save_memory", '{"content": "dogs"}'),
    )


async def test_a_call_without_a_name_is_a_call_and_what_can_t_be_stored_is_replaced(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    call = ScriptedCall(id="", name="", arguments='{"content": "\x00 \ud83d"}')
    standin.script([Answer(tool_calls=(call,))])
    (completion,) = [event async for event in model.stream(prompt, tools=[SAVE])]
    assert isinstance(completion, Completion)
    assert completion.tool_calls == (ToolCall("call_0", "", '{"content": "\ufffd \ufffd"}'),)


async def test_tool_results_go_back_with_the_calls_they_answer(
    model: LanguageModel, standin: StandIn
) -> None:
    call = ToolCall("call_a", "save_memory", '{"content": "喜欢爬山"}')
    prompt = Prompt(
        task=PromptTask.REPLY,
        language="zh-hans",
        system="s",
        messages=(
            ChatMessage(Speaker.USER, "我喜欢爬山"),
            ChatMessage(Speaker.ASSISTANT, "", tool_calls=(call,)),
            ChatMessage(Speaker.TOOL, '{"saved": true}', tool_call_id="call_a"),
        ),
    )
    await model.complete(prompt)
    body = standin.requests[0].body
    conversation = body["input"]["messages"] if model.provider == "dashscope" else body["messages"]
    assert conversation[2]["tool_calls"][0]["function"]["arguments"] == '{"content": "喜欢爬山"}'
    assert (conversation[3]["role"], conversation[3]["tool_call_id"]) == ("tool", "call_a")


@pytest.mark.parametrize(
    ("name", "arguments", "sent"),
    [
        ("save_memory", '{"content": "x"}', ("save_memory", '{"content": "x"}')),
        ("save_memory", '{"content": brok', ("save_memory", "{}")),
        ("save_memory", "", ("save_memory", "{}")),
        ("save_memory", "[1]", ("save_memory", "{}")),
        ("save_memory", '{"n": NaN}', ("save_memory", "{}")),
        ("save_memory", "[" * 100_000, ("save_memory", "{}")),
        ("", "{}", ("unnamed", "{}")),
    ],
)
async def test_a_call_goes_back_in_a_form_that_servers_accept(
    model: LanguageModel, standin: StandIn, name: str, arguments: str, sent: tuple[str, str]
) -> None:
    prompt = Prompt(
        task=PromptTask.REPLY,
        language="en",
        system="",
        messages=(
            ChatMessage(Speaker.ASSISTANT, "", tool_calls=(ToolCall("a", name, arguments),)),
            ChatMessage(Speaker.TOOL, '{"error": "no"}', tool_call_id="a"),
        ),
    )
    await model.complete(prompt)
    body = standin.requests[0].body
    conversation = body["input"]["messages"] if model.provider == "dashscope" else body["messages"]
    assert conversation[0]["role"] == "assistant"
    (call,) = conversation[0]["tool_calls"]
    assert (call["id"], call["type"]) == ("a", "function")
    assert (call["function"]["name"], call["function"]["arguments"]) == sent
    assert conversation[1] == {"role": "tool", "content": '{"error": "no"}', "tool_call_id": "a"}
    assert "tools" not in (body["parameters"] if model.provider == "dashscope" else body)


async def test_json_is_asked_for_where_an_extraction_needs_it(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(text='{"traits": []}')])
    completion = await model.complete(prompt, json=True)
    body = standin.requests[0].body
    parameters = body["parameters"] if model.provider == "dashscope" else body
    assert completion.text == '{"traits": []}'
    assert parameters["response_format"] == {"type": "json_object"}


async def test_stopping_early_closes_the_connection(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(text="一二三四五六七八九十" * 40, delay=0.02)])
    stream = model.stream(prompt)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    await standin.settled()


async def test_a_line_that_dies_after_the_finish_reason_costs_nothing(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(text="好的。", fault=Fault.HANG_AFTER_FINISH)])
    completion = await model.complete(prompt)
    assert completion.text == "好的。"


async def test_many_streams_at_once_keep_their_texts_apart(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(text=f"answer {n} of many", delay=0.005) for n in range(40)])
    completions = await asyncio.gather(*(model.complete(prompt) for _ in range(40)))
    assert sorted(c.text for c in completions) == sorted(f"answer {n} of many" for n in range(40))
