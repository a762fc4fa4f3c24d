"""The offline model answers from what it was given, and is honest about itself."""

from __future__ import annotations

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.base import ChatMessage, Completion, Speaker, TextDelta
from memlab.core.llm.tokens import count_message_tokens, count_tokens
from memlab.core.values import Prompt, PromptTask, Section

PROFILE = Section(
    key="profile",
    title="用户画像",
    lines=("基本信息：occupation: 博士生", "偏好：喜欢爬山、素食主义者", "限制：对海鲜过敏"),
)
RECENT = Section(
    key="recent",
    title="近期对话",
    lines=("用户：我养了一只猫，叫团子", "助手：团子这个名字真可爱！", "用户：最近论文压力好大"),
)
ENGLISH = Section(
    key="profile",
    title="Profile",
    lines=(
        "Basic information: occupation: nurse",
        "- [T1] [relevance 0.87] User: My cat Miso is ill",
    ),
)


def _prompt(*said: str, sections: tuple[Section, ...] = (), language: str = "zh-hans") -> Prompt:
    speakers = (Speaker.USER, Speaker.ASSISTANT)
    return Prompt(
        task=PromptTask.REPLY,
        language=language,
        system="系统",
        sections=sections,
        messages=tuple(ChatMessage(speakers[i % 2], text) for i, text in enumerate(said)),
    )


async def _reply(*said: str, sections: tuple[Section, ...] = (), language: str = "zh-hans") -> str:
    model = open_model("offline", "offline-1")
    return (await model.complete(_prompt(*said, sections=sections, language=language))).text


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("你还记得我对什么过敏吗？", "“限制：对海鲜过敏”"),
        ("我的猫叫什么名字？", "“我养了一只猫，叫团子”"),
        ("我喜欢什么？", "“偏好：喜欢爬山、素食主义者”"),
        ("我是做什么的？", "“基本信息：occupation: 博士生”"),
    ],
)
async def test_question_is_answered_by_the_line_that_holds_it(question: str, quoted: str) -> None:
    assert quoted in await _reply(question, sections=(PROFILE, RECENT))


@pytest.mark.parametrize(
    ("said", "question", "language", "answer"),
    [
        ("我养了一只猫，叫团子。", "我的猫叫什么名字？", "zh-hans", "我养了一只猫，叫团子”。"),
        ("我的猫叫团子！", "我的猫叫什么名字？", "zh-hans", "我的猫叫团子！”。"),
        ("我的猫叫团子……", "我的猫叫什么名字？", "zh-hans", "我的猫叫团子……”。"),
        ("My cat is called Miso.", "What is my cat called?", "en", "My cat is called Miso”."),
        ("My cat is called Miso...", "What is my cat called?", "en", "My cat is called Miso...”."),
    ],
)
async def test_a_quotation_brings_no_second_full_stop(
    said: str, question: str, language: str, answer: str
) -> None:
    reply = await _reply(said, "…", question, language=language)
    assert reply.partition("“")[2] == answer


@pytest.mark.parametrize("question", ["我爸爸叫什么名字？", "我住在哪里？"])
async def test_what_was_not_given_is_not_known(question: str) -> None:
    reply = await _reply("你好", "你好！", question, sections=(PROFILE, RECENT))
    assert reply == "这个我不知道，这次给我的内容里没有。你愿意告诉我吗？"


async def test_without_sections_nothing_from_them_is_known() -> None:
    assert "海鲜" not in await _reply("我对什么过敏？")


async def test_this_session_is_remembered_too() -> None:
    assert "“我叫小明”" in await _reply("我叫小明", "你好，小明！", "我叫什么名字？")


async def test_own_lines_are_quoted_and_never_the_models() -> None:
    assert "真可爱" not in await _reply("还记得团子吗？", sections=(RECENT,))


async def test_statement_meets_what_it_reminds_of_and_a_question_follows() -> None:
    reply = await _reply("你好", "你好！", "今天又去爬山了", sections=(PROFILE,))
    assert "“偏好：喜欢爬山、素食主义者”" in reply
    assert reply.endswith("？")


async def test_english_reads_past_bullets_provenance_and_speakers() -> None:
    reply = await _reply("Hi", "Hello!", "How is my cat?", sections=(ENGLISH,), language="en")
    assert reply == "Here is what I have on that: “My cat Miso is ill”."


@pytest.mark.parametrize(
    ("question", "language", "said"),
    [
        ("你是真人吗？", "zh-hans", "不是人，也不是大语言模型"),
        ("Are you a real person?", "en", "neither a person nor a large language model"),
    ],
)
async def test_it_says_what_it_is_when_asked(question: str, language: str, said: str) -> None:
    assert said in await _reply("hi", "hello", question, language=language)


async def test_it_names_itself_once_at_the_beginning() -> None:
    assert (await _reply("我很难过")).startswith("（离线演示模型）")
    assert "离线演示模型" not in await _reply("你好", "你好！", "我很难过")


async def test_opening_line_when_nobody_has_spoken() -> None:
    assert await _reply() == "你好！我是离线演示模型，按简单的规则回答。今天想聊点什么？"


async def test_stream_gives_the_same_text_in_pieces_and_the_same_again() -> None:
    model = open_model("offline", "offline-1")
    prompt = _prompt("今天又去爬山了", sections=(PROFILE,))
    events = [event async for event in model.stream(prompt)]
    again = [event async for event in model.stream(prompt)]

    assert events == again
    completion = events[-1]
    assert isinstance(completion, Completion)
    deltas = [event.text for event in events[:-1] if isinstance(event, TextDelta)]
    assert "".join(deltas) == completion.text
    assert len(deltas) > 10
    assert (completion.model, completion.finish_reason) == ("offline-1", "stop")
    assert completion.usage.prompt_tokens == count_message_tokens(["系统", "今天又去爬山了"])
    assert completion.usage.completion_tokens == count_tokens(completion.text)


async def test_broken_json_is_mended_or_left_as_it_was() -> None:
    async def repaired(broken: str) -> str:
        prompt = Prompt(
            task=PromptTask.REPAIR_JSON,
            language="en",
            system="",
            messages=(ChatMessage(Speaker.USER, broken),),
        )
        return (await open_model("offline", "offline-1").complete(prompt, json=True)).text

    assert await repaired('```json\n{"traits": [{"a": 1,}]}\n```') == '{"traits": [{"a": 1}]}'
    assert await repaired('{"traits": [{"text": "喜欢爬山"') == '{"traits": [{"text": "喜欢爬山"}]}'
    assert await repaired("nothing at all") == "nothing at all"
    assert await repaired('{"a" 1}') == '{"a" 1}'
