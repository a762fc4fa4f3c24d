"""A model that calls tools in the middle of a turn: the real SDKs, a loopback stand-in, and a
memory with tools, from the socket to the rows."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from chat import steps, streaming
from chat.makers import makers
from chat.models import Receipt, Reply
from experiments.doors import DoorKeeper
from experiments.models import Lab, Participant, Session
from memlab.core.ledger import Job
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import MemoryEvent, Trait
from tests.chat.sockets import Tab
from tests.chat.test_faults import PROVIDERS, key_to, times
from tests.notebook import GUIDANCE, NOTEBOOK
from tests.standin import Answer, Fault, RecordedRequest, ScriptedCall, StandIn
from tests.studies import enrol, enter, make_study

TEA = ScriptedCall(id="call_tea", name="write", arguments='{"text": "喜欢喝茶 likes tea"}')
READ = ScriptedCall(id="call_read", name="read", arguments="{}")
DONE = Answer(pieces=("Good ", "to know.", "\n"))


@pytest.fixture(autouse=True)
def _quick(kept_rows: None, standin: StandIn, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEMORY_ARCHITECTURES = {**settings.MEMORY_ARCHITECTURES, **NOTEBOOK}
    settings.ALLOWED_MODEL_URLS = [standin.openai_url, standin.dashscope_url]
    settings.MODEL_TIMEOUTS = {"connect": 2.0, "first_token": 0.5, "between_tokens": 0.5}
    monkeypatch.setattr(streaming, "FIRST_PAUSE", 0.01)


@pytest.fixture(autouse=True)
async def _shut_doors() -> AsyncIterator[None]:
    yield
    await makers().aclose()


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@dataclass
class Visit:
    """A participant in a stage with manipulation whose memory is a notebook."""

    lab: Lab
    person: Participant
    session: Session

    def tab(self) -> Tab:
        return Tab(self.person, self.session.id)

    async def lines(self) -> list[str]:
        def read() -> list[str]:
            with lab_scope(self.lab.pk):
                return sorted(Trait.objects.values_list("text", flat=True))

        return await unit(read)

    async def events(self) -> list[tuple[str, Any]]:
        def read() -> list[tuple[str, Any]]:
            with lab_scope(self.lab.pk):
                return list(MemoryEvent.objects.values_list("event", "after"))

        return await unit(read)

    async def reply(self) -> Reply:
        def read() -> Reply:
            with lab_scope(self.lab.pk):
                return Reply.objects.select_related("message").get()

        return await unit(read)

    async def receipt(self) -> Receipt:
        def read() -> Receipt:
            with lab_scope(self.lab.pk):
                return Receipt.objects.get()

        return await unit(read)


async def visit(standin: StandIn, lab: Lab, provider: str, **fields: Any) -> Visit:
    def begin() -> Visit:
        key = key_to(standin, lab, provider)
        doors = {
            f"{use}_{name}": value
            for use in ("talking", "extraction")
            for name, value in (("provider", provider), ("model", f"{use}-2026"), ("key", key))
        }
        study = make_study(
            lab,
            arms={"notebook": "notebook"},
            stages={"manipulation": True, "opening_line": ""},
            **doors,
            **fields,
        )
        person = enrol(study, arm="notebook")
        return Visit(lab, person, enter(person))

    return await unit(begin)


def messages(request: RecordedRequest) -> list[dict[str, Any]]:
    """The conversation as it was sent, without the system's message."""
    body = request.body.get("input", request.body)
    return [each for each in body["messages"] if each["role"] != "system"]


def offered(request: RecordedRequest) -> list[str]:
    tools = request.body.get("parameters", request.body).get("tools", [])
    return [tool["function"]["name"] for tool in tools]


def shown(tab: Tab, attempt: int = 1) -> str:
    tokens = [f for f in tab.frames if f["type"] == "token" and f["attempt"] == attempt]
    assert [frame["n"] for frame in tokens] == list(range(len(tokens)))
    return "".join(frame["text"] for frame in tokens)


async def test_a_turn_with_tools_from_the_wire_to_the_receipt(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    there = await visit(standin, own_lab, provider)
    standin.script([Answer(tool_calls=(TEA, READ)), DONE])
    async with there.tab() as tab:
        await tab.say("I like tea.")
        frame = await tab.until("reply")
    assert frame["text"] == shown(tab) == "Good to know."
    assert not any(
        word in text for text in tab.raw for word in ("write", "call_", "likes tea", "notebook")
    )

    first, second = standin.requests
    assert offered(first) == offered(second) == ["write", "read"]
    assert GUIDANCE in json.dumps(first.body)
    assert messages(first) == [{"role": "user", "content": "I like tea."}]
    said, called, *told = messages(second)
    assert said == messages(first)[0]
    assert (called["role"], called["content"]) == ("assistant", "")
    assert [(call["id"], call["function"]) for call in called["tool_calls"]] == [
        ("call_tea", {"name": "write", "arguments": TEA.arguments}),
        ("call_read", {"name": "read", "arguments": "{}"}),
    ]
    assert [(each["role"], each["tool_call_id"]) for each in told] == [
        ("tool", "call_tea"),
        ("tool", "call_read"),
    ]
    written, read = (each["content"] for each in told)
    assert json.loads(read) == {"lines": ["喜欢喝茶 likes tea"]}

    receipt = await there.receipt()
    assert receipt.tools == [
        {"round": 1, "name": "write", "arguments": TEA.arguments, "result": written,
         "refused": False},
        {"round": 1, "name": "read", "arguments": "{}", "result": read, "refused": False},
    ]  # fmt: skip
    assert (receipt.rounds, receipt.tries) == (2, 2)
    assert (receipt.prompt_tokens, receipt.completion_tokens) == (22, 14)
    assert [tool["name"] for tool in receipt.prompt["tools"]] == ["write", "read"]
    assert receipt.prompt["messages"] == [{"role": "user", "content": "I like tea."}]
    assert receipt.finish_reason == "stop"
    assert receipt.timings["tools"] <= receipt.timings["first_token"]
    assert await there.lines() == ["喜欢喝茶 likes tea"]
    assert await unit(Job.objects.filter(participant=there.person.public_id).count) == 0


async def test_bad_calls_are_answered_and_no_failure(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    there = await visit(standin, own_lab, provider)
    calls = (
        ScriptedCall(id="a", name="write", arguments='{"text": "half'),
        ScriptedCall(id="b", name="", arguments='{"text": "nameless"}'),
        TEA,
    )
    standin.script([Answer(tool_calls=calls), DONE])
    async with there.tab() as tab:
        await tab.say("I like tea.")
        assert (await tab.until("reply"))["text"] == "Good to know."
    receipt = await there.receipt()
    assert [(call["name"], call["arguments"], call["refused"]) for call in receipt.tools] == [
        ("write", '{"text": "half', True),
        ("", '{"text": "nameless"}', True),
        ("write", TEA.arguments, False),
    ]
    _said, called, *told = messages(standin.requests[1])
    sent = [call["function"] for call in called["tool_calls"]]
    assert sent[0] == {"name": "write", "arguments": "{}"}
    assert sent[1] == {"name": "unnamed", "arguments": '{"text": "nameless"}'}
    assert [json.loads(each["content"]) for each in told[:2]] == [
        {"error": "malformed"},
        {"error": "unknown_tool"},
    ]
    events = await there.events()
    assert [after for event, after in events if event == "refused"] == [
        {"call": "write", "code": "malformed"},
        {"call": "", "code": "unknown_tool"},
    ]
    assert await there.lines() == ["喜欢喝茶 likes tea"]


@pytest.mark.parametrize(
    ("last", "text"),
    [
        (DONE, "One moment.\n\nGood to know."),
        (Answer(pieces=("\n\n", "Noted.")), "One moment.\n\nNoted."),
        (Answer(fault=Fault.EMPTY), "One moment."),
        (Answer(pieces=("  \n",)), "One moment."),
    ],
    ids=["goes on", "after white space", "says nothing more", "white space alone"],
)
async def test_what_is_said_before_a_call_stays_said(
    last: Answer, text: str, provider: str, own_lab: Lab, standin: StandIn
) -> None:
    there = await visit(standin, own_lab, provider)
    standin.script([Answer(pieces=("\n", "One ", "moment.", " \n"), tool_calls=(TEA,)), last])
    async with there.tab() as tab:
        await tab.say("I like tea.")
        frame = await tab.until("reply")
    assert (await there.reply()).message.text == frame["text"] == shown(tab) == text
    assert messages(standin.requests[1])[1]["content"] == "\nOne moment. \n"
    assert await there.lines() == ["喜欢喝茶 likes tea"]


async def test_calling_without_end_ends(provider: str, own_lab: Lab, standin: StandIn) -> None:
    there = await visit(standin, own_lab, provider)
    calls = [
        ScriptedCall(id=f"c{n}", name="write", arguments=json.dumps({"text": f"line {n}"}))
        for n in range(9)
    ]
    standin.script([Answer(tool_calls=(call,), match='"tools"') for call in calls])
    standin.default = DONE
    async with there.tab() as tab:
        await tab.say("Go on for ever.")
        assert (await tab.until("reply"))["text"] == "Good to know."
    assert [offered(request) for request in standin.requests] == [["write", "read"]] * 3 + [[]]
    assert json.loads(messages(standin.requests[3])[-1]["content"]) == {"error": "over_budget"}
    receipt = await there.receipt()
    assert (receipt.rounds, receipt.prompt_tokens) == (4, 44)
    assert [(call["round"], call["refused"]) for call in receipt.tools] == [
        (1, False),
        (2, False),
        (3, True),
    ]
    assert await there.lines() == ["line 0", "line 1"]
    assert [event for event, _after in await there.events()] == ["encoded", "encoded", "refused"]


async def test_calls_beyond_the_budget_of_a_turn_are_refused(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    there = await visit(standin, own_lab, provider)
    calls = tuple(
        ScriptedCall(id=f"c{n}", name="write", arguments=json.dumps({"text": f"line {n}"}))
        for n in range(5)
    )
    standin.script([Answer(tool_calls=calls), DONE])
    async with there.tab() as tab:
        await tab.say("Write a lot.")
        await tab.until("reply")
    receipt = await there.receipt()
    assert [call["refused"] for call in receipt.tools] == [False, False, False, True, True]
    assert await there.lines() == ["line 0", "line 1", "line 2"]


async def test_a_fault_in_a_later_round_is_tried_again_while_nothing_was_shown(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    there = await visit(standin, own_lab, provider)
    standin.script([Answer(tool_calls=(TEA,)), *times(2, fault=Fault.STATUS), DONE])
    async with there.tab() as tab:
        await tab.say("I like tea.")
        assert (await tab.until("reply"))["text"] == "Good to know."
    assert [len(messages(request)) for request in standin.requests] == [1, 3, 3, 3]
    receipt = await there.receipt()
    assert (receipt.rounds, receipt.tries, len(receipt.tools)) == (2, 4, 1)
    assert await there.lines() == ["喜欢喝茶 likes tea"]


@pytest.mark.parametrize(
    ("first", "second", "failure", "partial", "requests"),
    [
        (Answer(tool_calls=(TEA,)), times(3, fault=Fault.STATUS), "unavailable", "", 4),
        (Answer(tool_calls=(TEA,)), times(3, fault=Fault.EMPTY), "malformed", "", 4),
        (Answer(tool_calls=(TEA,)), times(1, fault=Fault.CUT), "cut_stream", "你好", 2),
        (Answer(pieces=("Wait.",), tool_calls=(TEA,)), times(1, fault=Fault.STATUS),
         "unavailable", "Wait.", 2),
        (Answer(pieces=("Wait.",), tool_calls=(TEA,)), times(1, fault=Fault.CUT),
         "cut_stream", "Wait.\n\n你好", 2),
        (Answer(tool_calls=(TEA, READ), fault=Fault.CUT, after=3),
         times(2, fault=Fault.CUT_BEFORE_HEADERS), "unavailable", "", 3),
    ],
    ids=["for ever", "empty", "in its text", "after text", "in its text after text",
         "within a call"],
)  # fmt: skip
async def test_of_a_failed_turn_nothing_is_applied_and_a_retry_starts_anew(
    first: Answer,
    second: list[Answer],
    failure: str,
    partial: str,
    requests: int,
    provider: str,
    own_lab: Lab,
    standin: StandIn,
) -> None:
    there = await visit(standin, own_lab, provider)
    standin.script([first, *second])
    async with there.tab() as tab:
        await tab.say("I like tea.")
        frame = await tab.until("failed")
        reply = await there.reply()
        assert (reply.failure, reply.partial, len(standin.requests)) == (failure, partial, requests)
        assert partial.startswith(shown(tab))  # a batch that is being filled isn't sent any more
        assert (await there.lines(), await there.events()) == ([], [])

        standin.script([Answer(tool_calls=(TEA,)), DONE])
        await tab.send({"type": "retry", "seq": frame["seq"]})
        assert (await tab.until("reply"))["text"] == shown(tab, 2) == "Good to know."
    assert len(messages(standin.requests[requests])) == 1
    receipt = await there.receipt()
    assert (receipt.attempt, receipt.rounds, receipt.tries) == (2, 2, 2)
    assert await there.lines() == ["喜欢喝茶 likes tea"]


async def test_a_model_that_calls_no_tools_is_asked_after_its_reply(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    there = await visit(standin, own_lab, provider, talking_calls_tools=False)
    standin.script([DONE])
    async with there.tab() as tab:
        await tab.say("I like tea.")
        await tab.until("reply")
    (asked,) = standin.requests
    assert offered(asked) == []
    assert GUIDANCE not in json.dumps(asked.body)
    receipt = await there.receipt()
    assert (receipt.rounds, receipt.tools, "tools" in receipt.prompt) == (1, [], False)

    reply = await there.reply()
    job = await unit(Job.objects.get, subject=reply.pk)
    assert (job.kind, job.state) == ("observe", "pending")
    standin.script([Answer(text='["likes tea"]')])
    keeper = DoorKeeper()
    try:
        assert await steps.run_steps(own_lab.pk, there.person.public_id, keeper) == 1
    finally:
        await keeper.aclose()
    assert await there.lines() == ["likes tea"]


async def test_calls_that_nobody_offered_are_no_answer(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    there = await visit(standin, own_lab, provider, talking_calls_tools=False)
    standin.default = Answer(tool_calls=(TEA,))
    async with there.tab() as tab:
        await tab.say("I like tea.")
        await tab.until("failed")
    assert ((await there.reply()).failure, len(standin.requests)) == ("malformed", 3)
    assert await there.lines() == []


async def test_the_pace_holds_the_first_token_back_through_the_calls(
    own_lab: Lab, standin: StandIn
) -> None:
    floor = 600
    there = await visit(
        standin, own_lab, "openai_compatible", pacing=True, pacing_first_token_ms=floor
    )
    async with there.tab() as tab:
        for answers in ([Answer(tool_calls=(TEA,), first_delay=0.1), DONE], [DONE]):
            standin.script(answers)
            said = time.monotonic()
            await tab.say("I like tea.")
            await tab.until("token")
            assert floor <= (time.monotonic() - said) * 1000 < floor + 400
            await tab.until("reply")
