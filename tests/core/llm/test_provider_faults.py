"""Each way a provider fails, as the real SDKs meet it, ends in one named failure."""

from __future__ import annotations

import asyncio
import time

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.base import Completion, FailureKind, LanguageModel, ModelFailure, TextDelta
from memlab.core.values import Prompt
from tests.core.llm.conftest import QUICK
from tests.standin import Answer, Fault, StandIn

K = FailureKind


async def _drain(model: LanguageModel, prompt: Prompt, streamed: list[str]) -> None:
    async for event in model.stream(prompt):
        assert isinstance(event, TextDelta)
        streamed.append(event.text)


TEXT = "一二三四五"
# fault, status, code -> kind, worth retrying, text streamed before it
FAULTS = [
    pytest.param(
        Answer(fault=Fault.STATUS, status=429, code="Throttling.RateQuota"),
        K.RATE_LIMIT,
        True,
        "",
        id="429",
    ),
    pytest.param(
        Answer(fault=Fault.STATUS, status=429, code="insufficient_quota"),
        K.RATE_LIMIT,
        False,
        "",
        id="no-quota",
    ),
    pytest.param(Answer(fault=Fault.STATUS, status=503), K.UNAVAILABLE, True, "", id="503"),
    pytest.param(
        Answer(fault=Fault.STATUS, status=500, code="InternalError"),
        K.UNAVAILABLE,
        True,
        "",
        id="500",
    ),
    pytest.param(Answer(fault=Fault.STATUS, status=504, code=""), K.TIMEOUT, True, "", id="504"),
    pytest.param(
        Answer(fault=Fault.STATUS, status=401, code="InvalidApiKey"),
        K.AUTHENTICATION,
        False,
        "",
        id="401",
    ),
    pytest.param(
        Answer(fault=Fault.STATUS, status=403, code="AccessDenied"),
        K.AUTHENTICATION,
        False,
        "",
        id="403",
    ),
    pytest.param(
        Answer(fault=Fault.STATUS, status=400, code="InvalidParameter"),
        K.BAD_REQUEST,
        False,
        "",
        id="400",
    ),
    pytest.param(
        Answer(fault=Fault.STATUS, status=404, code="ModelNotFound"),
        K.BAD_REQUEST,
        False,
        "",
        id="404",
    ),
    pytest.param(
        Answer(fault=Fault.CONTENT_FILTER), K.CONTENT_FILTER, False, "", id="filtered-prompt"
    ),
    pytest.param(
        Answer(fault=Fault.HANG_BEFORE_HEADERS), K.TIMEOUT, True, "", id="hang-before-headers"
    ),
    pytest.param(
        Answer(fault=Fault.HANG_BEFORE_FIRST_TOKEN),
        K.TIMEOUT,
        True,
        "",
        id="hang-before-first-token",
    ),
    pytest.param(
        Answer(fault=Fault.CUT_BEFORE_HEADERS), K.UNAVAILABLE, True, "", id="cut-before-headers"
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.HANG_BETWEEN_TOKENS),
        K.TIMEOUT,
        True,
        "一二",
        id="hang-between-tokens",
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.CUT), K.CUT_STREAM, True, "一二", id="cut-in-stream"
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.CUT, after=0),
        K.UNAVAILABLE,
        True,
        "",
        id="cut-before-first-token",
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.ERROR_IN_STREAM),
        K.UNAVAILABLE,
        True,
        "一二",
        id="error-in-stream",
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.ERROR_IN_STREAM, code="Throttling"),
        K.RATE_LIMIT,
        True,
        "一二",
        id="throttled-in-stream",
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.CONTENT_FILTER_IN_STREAM),
        K.CONTENT_FILTER,
        False,
        "一二",
        id="filtered-reply",
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.TRUNCATED), K.TRUNCATED, False, TEXT, id="truncated"
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.MALFORMED_CHUNK),
        K.MALFORMED,
        True,
        "一二",
        id="malformed-chunk",
    ),
    pytest.param(
        Answer(text=TEXT, fault=Fault.MISSING_FINISH), K.CUT_STREAM, True, TEXT, id="missing-finish"
    ),
]


@pytest.mark.parametrize(("answer", "kind", "retryable", "partial"), FAULTS)
async def test_fault_becomes_the_failure_it_is(
    model: LanguageModel,
    standin: StandIn,
    prompt: Prompt,
    answer: Answer,
    kind: FailureKind,
    retryable: bool,
    partial: str,
) -> None:
    standin.script([answer])
    before = asyncio.all_tasks()
    streamed: list[str] = []
    with pytest.raises(ModelFailure) as caught:
        await _drain(model, prompt, streamed)

    failure = caught.value
    assert (failure.kind, failure.retryable) == (kind, retryable)
    assert (failure.partial, "".join(streamed)) == (partial, partial)
    assert failure.__cause__ is None
    assert failure.__context__ is None
    assert "爬山" not in str(failure)
    assert len(standin.requests) == 1, "the SDK tried again by itself"
    assert asyncio.all_tasks() == before, "a task was left behind"


@pytest.mark.parametrize(
    "fault", [Fault.CUT, Fault.ERROR_IN_STREAM, Fault.EMPTY, Fault.HANG_BETWEEN_TOKENS]
)
async def test_after_a_fault_the_same_model_answers_again(
    model: LanguageModel, standin: StandIn, prompt: Prompt, fault: Fault
) -> None:
    standin.script([Answer(fault=fault), Answer(text="又好了。")])
    with pytest.raises(ModelFailure):
        await model.complete(prompt)
    assert (await model.complete(prompt)).text == "又好了。"
    await standin.settled()


async def test_an_empty_answer_ends_a_stream_and_is_no_whole_answer(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(fault=Fault.EMPTY), Answer(fault=Fault.EMPTY)])
    (completion,) = [event async for event in model.stream(prompt)]
    assert isinstance(completion, Completion)
    assert (completion.text, completion.tool_calls) == ("", ())
    with pytest.raises(ModelFailure) as caught:
        await model.complete(prompt)
    assert (caught.value.kind, caught.value.retryable) == (K.MALFORMED, True)


async def test_rate_limit_says_when_to_come_back(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(fault=Fault.STATUS, status=429, code="limit_requests", retry_after="7")])
    with pytest.raises(ModelFailure) as caught:
        await model.complete(prompt)
    assert caught.value.retry_after == 7.0


async def test_hang_is_given_up_in_the_time_set_for_it(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(fault=Fault.HANG_BEFORE_HEADERS)])
    started = time.monotonic()
    with pytest.raises(ModelFailure):
        await model.complete(prompt)
    assert 0.3 < time.monotonic() - started < 1.5


async def test_a_web_page_instead_of_a_stream_is_a_failure(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(fault=Fault.NOT_A_STREAM)])
    with pytest.raises(ModelFailure) as caught:
        await model.complete(prompt)
    assert caught.value.kind in (K.MALFORMED, K.CUT_STREAM)


@pytest.mark.parametrize("provider", ["dashscope", "openai_compatible"])
async def test_nobody_listening_is_unavailable(provider: str, prompt: Prompt) -> None:
    url = "http://127.0.0.1:9/v1"
    model = open_model(
        provider, "m", api_key="k", base_url=url, allowed_base_urls=[url], timeouts=QUICK
    )
    with pytest.raises(ModelFailure) as caught:
        await model.complete(prompt)
    await model.aclose()
    assert (caught.value.kind, caught.value.partial) == (K.UNAVAILABLE, "")


async def test_cancelling_the_turn_closes_the_connection(
    model: LanguageModel, standin: StandIn, prompt: Prompt
) -> None:
    standin.script([Answer(text=TEXT, fault=Fault.HANG_BETWEEN_TOKENS)])
    turn = asyncio.ensure_future(model.complete(prompt))
    await standin.settled(received=1)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await standin.settled()
