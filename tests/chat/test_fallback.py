"""When a study's talking model fails before its first word and another one answers: the real SDKs,
a loopback stand-in, from the socket to the log of deviations."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from chat import streaming
from chat.makers import makers
from chat.models import AdverseEvent, Receipt, Reply
from experiments.models import Deviation, Lab, Participant, ProviderKey, Session, Study
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import Trait
from tests.chat.sockets import Tab
from tests.chat.test_faults import PROVIDERS, key_to
from tests.notebook import NOTEBOOK
from tests.standin import Answer, Fault, RecordedRequest, ScriptedCall, StandIn
from tests.studies import enrol, enter, make_study

TALKING, FALLBACK = "talk-2026", "spare-2026"
TEA = ScriptedCall(id="call_tea", name="write", arguments='{"text": "likes tea"}')


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
    """Who talks; the other one is the fallback's."""
    return request.param


def other(provider: str) -> str:
    return next(each for each in PROVIDERS if each != provider)


@dataclass
class Turn:
    """A participant whose study has a fallback, and what became of their first message."""

    lab: Lab
    person: Participant
    session: Session

    def tab(self) -> Tab:
        return Tab(self.person, self.session.id)

    async def reply(self) -> Reply:
        def read() -> Reply:
            with lab_scope(self.lab.pk):
                return Reply.objects.get()

        return await unit(read)

    async def receipts(self) -> list[Receipt]:
        def read() -> list[Receipt]:
            with lab_scope(self.lab.pk):
                return list(Receipt.objects.order_by("pk"))

        return await unit(read)

    async def deviations(self) -> list[tuple[str, dict[str, Any]]]:
        """Kind and details of each, all of them this participant's in this session."""

        def read() -> list[tuple[str, dict[str, Any]]]:
            with lab_scope(self.lab.pk):
                rows = list(Deviation.objects.order_by("pk"))
            assert {(row.study_id, row.participant_id, row.session_id) for row in rows} <= {
                (self.person.study_id, self.person.pk, self.session.pk)
            }
            return [(row.kind, row.details) for row in rows]

        return await unit(read)

    async def lines(self) -> list[str]:
        def read() -> list[str]:
            with lab_scope(self.lab.pk):
                return list(Trait.objects.values_list("text", flat=True))

        return await unit(read)


def study_with_fallback(standin: StandIn, lab: Lab, provider: str, **fields: Any) -> Study:
    doors = {
        "talking_provider": provider,
        "talking_model": TALKING,
        "talking_key": key_to(standin, lab, provider),
        "fallback_provider": other(provider),
        "fallback_model": FALLBACK,
        "fallback_key": key_to(standin, lab, other(provider)),
    }
    defaults = {
        "arms": {"notebook": "notebook"},
        "stages": {"manipulation": True, "opening_line": ""},
    }
    return make_study(lab, **{**defaults, **doors, **fields})


async def begun(standin: StandIn, lab: Lab, provider: str, **fields: Any) -> Turn:
    def begin() -> Turn:
        person = enrol(study_with_fallback(standin, lab, provider, **fields), arm="notebook")
        return Turn(lab, person, enter(person))

    return await unit(begin)


def of_talking(number: int = 1, **answer: Any) -> list[Answer]:
    return [Answer(match=TALKING, **answer) for _ in range(number)]


def of_fallback(number: int = 1, **answer: Any) -> list[Answer]:
    return [Answer(match=FALLBACK, model=FALLBACK, **answer) for _ in range(number)]


def asked(requests: list[RecordedRequest]) -> list[str]:
    return [request.body["model"] for request in requests]


#: What another model may mend: the answers of the talking one, and how that failure is called.
MENDED: dict[str, tuple[list[Answer], str]] = {
    "429": (of_talking(3, fault=Fault.STATUS, status=429, code="rate_limit"), "rate_limit"),
    "an empty purse": (
        of_talking(1, fault=Fault.STATUS, status=429, code="insufficient_quota"), "rate_limit"),
    "503": (of_talking(3, fault=Fault.STATUS), "unavailable"),
    "connection cut": (of_talking(3, fault=Fault.CUT_BEFORE_HEADERS), "unavailable"),
    "hang": (of_talking(3, fault=Fault.HANG_BEFORE_FIRST_TOKEN), "timeout"),
    "empty": (of_talking(3, fault=Fault.EMPTY), "malformed"),
    "stream cut before a word": (of_talking(3, fault=Fault.CUT, pieces=("\n", "late"), after=1),
                                 "cut_stream"),
    "401": (of_talking(1, fault=Fault.STATUS, status=401, code="invalid_api_key"),
            "authentication"),
}  # fmt: skip


@pytest.mark.parametrize(("answers", "failure"), MENDED.values(), ids=MENDED.keys())
async def test_the_fallback_answers_what_another_model_can_mend(
    answers: list[Answer], failure: str, provider: str, own_lab: Lab, standin: StandIn
) -> None:
    turn = await begun(standin, own_lab, provider)
    standin.script([*answers, *of_fallback(text="Here I am.")])
    async with turn.tab() as tab:
        await tab.say("Hello?")
        frame = await tab.until("reply")
    assert (frame["text"], frame["attempt"]) == ("Here I am.", 1)
    assert asked(standin.requests) == [TALKING] * len(answers) + [FALLBACK]
    (receipt,) = await turn.receipts()
    assert (receipt.provider, receipt.model) == (other(provider), FALLBACK)
    assert (receipt.fallback_after, receipt.degraded) == (failure, [])
    assert (receipt.tries, receipt.rounds) == (len(answers) + 1, 1)
    assert (receipt.prompt_tokens, receipt.completion_tokens) == (11, 7)
    assert await turn.deviations() == [
        (
            "model_fallback",
            {
                "turn": frame["seq"],
                "attempt": 1,
                "failure": failure,
                "provider": other(provider),
                "model": FALLBACK,
                "answered": True,
            },
        )
    ]


@pytest.mark.parametrize(
    ("answer", "failure", "partial"),
    [
        ({"fault": Fault.CONTENT_FILTER}, "content_filter", False),
        ({"fault": Fault.CONTENT_FILTER_IN_STREAM, "after": 0}, "content_filter", False),
        ({"fault": Fault.STATUS, "status": 400, "code": "invalid_request_error"}, "bad_request",
         False),
        ({"fault": Fault.TRUNCATED, "text": " "}, "truncated", False),
        ({"fault": Fault.CUT}, "cut_stream", True),
        ({"fault": Fault.HANG_BETWEEN_TOKENS}, "timeout", True),
    ],
    ids=["filter", "filter in the stream", "refused", "truncated", "cut after words",
         "hang after words"],
)  # fmt: skip
async def test_no_other_model_is_asked_what_was_refused_or_has_begun(
    answer: dict[str, Any],
    failure: str,
    partial: bool,
    provider: str,
    own_lab: Lab,
    standin: StandIn,
) -> None:
    turn = await begun(standin, own_lab, provider)
    standin.script(of_talking(**answer))
    async with turn.tab() as tab:
        await tab.say("Hello?")
        await tab.until("failed")
    reply = await turn.reply()
    assert (reply.failure, bool(reply.partial)) == (failure, partial)
    assert asked(standin.requests) == [TALKING]
    assert (await turn.deviations(), await turn.receipts()) == ([], [])


async def test_without_a_fallback_the_reply_fails(own_lab: Lab, standin: StandIn) -> None:
    turn = await begun(
        standin, own_lab, "dashscope", fallback_provider="", fallback_model="", fallback_key=None
    )
    standin.default = Answer(fault=Fault.STATUS)
    async with turn.tab() as tab:
        await tab.say("Hello?")
        await tab.until("failed")
    assert asked(standin.requests) == [TALKING] * 3
    assert await turn.deviations() == []


async def test_the_talking_model_is_asked_first_again_in_the_next_turn(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    turn = await begun(standin, own_lab, provider)
    standin.script(of_talking(3, fault=Fault.STATUS))
    async with turn.tab() as tab:
        await tab.say("Hello?")
        await tab.until("reply")
        await tab.say("And now?")
        await tab.until("reply")
    assert asked(standin.requests) == [*[TALKING] * 3, FALLBACK, TALKING]
    first, second = await turn.receipts()
    assert (first.fallback_after, second.fallback_after) == ("unavailable", "")
    assert second.provider == provider
    assert len(await turn.deviations()) == 1


@pytest.mark.parametrize(
    ("answers", "failure", "partial", "retryable"),
    [
        (of_fallback(3, fault=Fault.STATUS, status=429, code="rate_limit"), "rate_limit", "", True),
        (of_fallback(fault=Fault.CUT), "cut_stream", "你好", True),
        (of_fallback(fault=Fault.CONTENT_FILTER), "content_filter", "", False),
    ],
    ids=["for ever", "after words", "filter"],
)
async def test_if_the_fallback_fails_too_the_reply_has_its_failure_and_the_log_the_first(
    answers: list[Answer],
    failure: str,
    partial: str,
    retryable: bool,
    provider: str,
    own_lab: Lab,
    standin: StandIn,
) -> None:
    turn = await begun(standin, own_lab, provider)
    standin.script([*of_talking(3, fault=Fault.STATUS), *answers])
    async with turn.tab() as tab:
        await tab.say("Hello?")
        frame = await tab.until("failed")
        assert frame["retryable"] is retryable
        reply = await turn.reply()
        assert (reply.failure, reply.partial) == (failure, partial)
        assert asked(standin.requests) == [TALKING] * 3 + [FALLBACK] * len(answers)
        ((kind, details),) = await turn.deviations()
        assert (kind, details["failure"], details["answered"]) == (
            "model_fallback",
            "unavailable",
            False,
        )
        if retryable:
            await tab.send({"type": "retry", "seq": frame["seq"]})
            assert (await tab.until("reply"))["attempt"] == 2

    def filtered() -> int:
        with lab_scope(own_lab.pk):
            return AdverseEvent.objects.filter(source="filter").count()

    receipts = await turn.receipts()
    assert [(each.provider, each.fallback_after) for each in receipts] == (
        [(provider, "")] if retryable else []
    )
    assert len(await turn.deviations()) == 1
    assert await unit(filtered) == (0 if retryable else 1)


async def test_the_fallback_calls_the_turns_tools(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    turn = await begun(standin, own_lab, provider)
    standin.script(
        [
            *of_talking(3, fault=Fault.STATUS),
            *of_fallback(tool_calls=(TEA,)),
            *of_fallback(text="Good to know."),
        ]
    )
    async with turn.tab() as tab:
        await tab.say("I like tea.")
        assert (await tab.until("reply"))["text"] == "Good to know."
    assert asked(standin.requests) == [*[TALKING] * 3, FALLBACK, FALLBACK]
    first, *_again, of_other, _last = standin.requests
    for request in (first, of_other):
        parameters = request.body.get("parameters", request.body)
        assert [tool["function"]["name"] for tool in parameters["tools"]] == ["write", "read"]
    (receipt,) = await turn.receipts()
    assert (receipt.rounds, receipt.tries, len(receipt.tools)) == (2, 5, 1)
    assert await turn.lines() == ["likes tea"]


async def test_no_other_model_goes_on_where_tools_have_been_called(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    turn = await begun(standin, own_lab, provider)
    standin.script([*of_talking(tool_calls=(TEA,)), *of_talking(3, fault=Fault.STATUS)])
    async with turn.tab() as tab:
        await tab.say("I like tea.")
        await tab.until("failed")
    assert asked(standin.requests) == [TALKING] * 4
    assert (await turn.lines(), await turn.deviations()) == ([], [])


async def test_a_fallback_without_its_key_leaves_the_talking_model_alone(
    own_lab: Lab, standin: StandIn
) -> None:
    turn = await begun(standin, own_lab, "openai_compatible")

    def remove_key() -> None:
        with lab_scope(own_lab.pk):
            Study.objects.update(fallback_provider="", fallback_model="", fallback_key=None)
            ProviderKey.objects.get(provider="dashscope").delete()

    await unit(remove_key)
    async with turn.tab() as tab:
        await tab.say("Hello?")
        await tab.until("reply")
        standin.script(of_talking(3, fault=Fault.STATUS))
        await tab.say("And now?")
        assert (await tab.until("failed"))["retryable"] is True
    assert asked(standin.requests) == [TALKING] * 4

    def failed() -> Reply:
        with lab_scope(own_lab.pk):
            return Reply.objects.get(state="failed")

    reply = await unit(failed)
    assert reply.failure == "bad_request"
    assert "needs an API key" in reply.failure_detail
    assert [details["answered"] for _kind, details in await turn.deviations()] == [False]


async def test_a_browser_can_t_tell_the_fallback_from_the_talking_model(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    turn = await begun(standin, own_lab, provider)
    shapes = []
    async with turn.tab() as tab:
        for faults in ([], of_talking(3, fault=Fault.STATUS)):
            standin.script(faults)
            await tab.say("Hello?")
            seq = (await tab.until("reply"))["seq"]
            # The clock's frames come when they come.
            its_own = [frame for frame in tab.frames if frame.get("seq") == seq]
            shapes.append({(frame["type"], *sorted(frame)) for frame in its_own})
    assert {kind for kind, *_names in shapes[0]} == {"waiting", "token", "reply"}
    assert shapes[0] == shapes[1]
    words = (*PROVIDERS, TALKING, FALLBACK, "fallback", "unavailable", "503", "standin-2026")
    assert not [word for text in tab.raw for word in words if word in text]


async def test_the_first_token_of_a_fallback_keeps_to_the_floor(
    own_lab: Lab, standin: StandIn
) -> None:
    floor = 1200
    turn = await begun(
        standin, own_lab, "openai_compatible", pacing=True, pacing_first_token_ms=floor
    )
    async with turn.tab() as tab:
        await tab.until("history")
        for _each in range(2):  # of the second one nothing has to be opened any more
            standin.script(of_talking(fault=Fault.STATUS, status=401, code="invalid_api_key"))
            said = time.monotonic()
            await tab.say("Hello?")
            await tab.until("token")
            assert time.monotonic() - said >= floor / 1000
            await tab.until("reply")
    assert asked(standin.requests) == [TALKING, FALLBACK] * 2
