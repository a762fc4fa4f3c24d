"""A conversation with a model that keeps its own memory, through a socket, with each provider."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from chat import steps
from chat.makers import makers
from chat.models import Receipt
from experiments.doors import DoorKeeper
from experiments.models import Lab, Participant, Session
from memlab.core.ledger import Job, JobKind
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import Belief, MemoryEvent
from tests.chat.sockets import Tab
from tests.chat.test_faults import key_to
from tests.standin import Answer, ScriptedCall, StandIn
from tests.studies import enrol, enter, make_study

LIKES, DISLIKES = "I like green tea.", "I don't like green tea any more."
PROVIDERS = ("offline", "dashscope", "openai_compatible")


@pytest.fixture(autouse=True)
async def _doors(kept_rows: None, standin: StandIn, settings) -> AsyncIterator[None]:
    settings.ALLOWED_MODEL_URLS = [standin.openai_url, standin.dashscope_url]
    yield
    await makers().aclose()


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


def call(number: int, name: str, arguments: str) -> ScriptedCall:
    return ScriptedCall(id=f"call_{number}", name=name, arguments=arguments)


#: What the stand-in's model does; the offline model comes to the same by rule.
SCRIPT = (
    Answer(tool_calls=(
        call(1, "save_memory", '{"content": "like green tea", "category": "preference"}'),
    )),
    Answer(text="Green tea it is."),
    Answer(tool_calls=(
        call(2, "weaken_memory", '{"memory": "m1", "reason": "not any more"}'),
        call(3, "weaken_memory", '{"memory": "m9", "reason": "of somebody else"}'),
    )),
    Answer(text="Tastes change."),
)  # fmt: skip


async def begun(
    standin: StandIn, lab: Lab, provider: str, **fields: Any
) -> tuple[Participant, Session]:
    """A participant in a session with manipulation, whose memory is ready for it."""

    def begin() -> tuple[Participant, Session]:
        if provider != "offline":
            key = key_to(standin, lab, provider)
            fields.update(talking_provider=provider, talking_model="talk-2026", talking_key=key)
        study = make_study(
            lab,
            arms={"confidence": "confidence"},
            stages={"manipulation": True, "opening_line": ""},
            **fields,
        )
        person = enrol(study, arm="confidence")
        return person, enter(person)

    person, session = await unit(begin)
    await remember(person)
    return person, session


async def remember(person: Participant) -> None:
    keeper = DoorKeeper()
    try:
        await steps.run_steps(person.lab_id, person.public_id, keeper)
    finally:
        await keeper.aclose()


def receipts(lab: Lab) -> list[Receipt]:
    with lab_scope(lab.pk):
        return list(Receipt.objects.order_by("recorded_at"))


def beliefs(lab: Lab) -> list[tuple[str, float]]:
    with lab_scope(lab.pk):
        return list(Belief.objects.values_list("content", "confidence"))


def events(lab: Lab) -> list[tuple[str, str]]:
    with lab_scope(lab.pk):
        return list(MemoryEvent.objects.values_list("event", "cause"))


async def test_a_live_conversation_leaves_beliefs_and_receipts(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    person, session = await begun(standin, own_lab, provider)
    standin.script(SCRIPT)
    async with Tab(person, session.id) as tab:
        for text in (LIKES, DISLIKES):
            await tab.say(text)
            reply = await tab.until("reply")
            tokens = [
                f["text"]
                for f in tab.frames
                if f.get("seq") == reply["seq"] and f["type"] == "token"
            ]
            assert "".join(tokens) == reply["text"] != ""
    assert not any(word in text for text in tab.raw for word in ("_memory", "call_", "offline-"))

    first, second = await unit(receipts, own_lab)
    assert [(each["round"], each["name"], each["refused"]) for each in first.tools] == [
        (1, "save_memory", False)
    ]
    assert (second.tools[0]["name"], second.tools[0]["refused"]) == ("weaken_memory", False)
    assert [each["refused"] for each in second.tools[1:] if "m9" in each["arguments"]] == (
        [] if provider == "offline" else [True]
    )
    for receipt in (first, second):
        assert (receipt.architecture, receipt.provider) == ("confidence", provider)
        assert (receipt.rounds, receipt.tries, receipt.degraded) == (2, 2, [])
        assert len(receipt.prompt["tools"]) == 5
        assert receipt.prompt_tokens is not None
    shown = [line for section in second.sections for line in section["lines"]]
    assert any("[m1]" in line and "green tea" in line for line in shown)

    ((content, confidence),) = await unit(beliefs, own_lab)
    assert ("green tea" in content, confidence) == (True, 0.75)
    made = await unit(events, own_lab)
    assert made[:2] == [("encoded", "tool"), ("weakened", "tool")]
    assert made[2:] == ([] if provider == "offline" else [("refused", "tool")])
    observed = Job.objects.filter(participant=person.public_id, kind=JobKind.OBSERVE)
    assert await unit(observed.count) == 0


async def test_without_function_calling_the_same_is_learned_after_each_reply(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    person, session = await begun(standin, own_lab, provider, talking_calls_tools=False)
    standin.default = Answer(text="I see.")
    async with Tab(person, session.id) as tab:
        for text in (LIKES, DISLIKES):
            await tab.say(text)
            await tab.until("reply")
            await remember(person)
    for receipt in await unit(receipts, own_lab):
        assert (receipt.rounds, receipt.tools, receipt.degraded) == (1, [], [])
        assert "save_memory" not in receipt.prompt["system"]
        assert "tools" not in receipt.prompt
        assert "tools" not in [section["key"] for section in receipt.sections]
    ((content, confidence),) = await unit(beliefs, own_lab)
    assert ("green tea" in content, confidence) == (True, 0.75)
    assert await unit(events, own_lab) == [("encoded", "observation"), ("weakened", "observation")]
