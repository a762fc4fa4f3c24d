"""Remote embedders through the real SDKs: order, batches, forms, and every fault."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio

from memlab.core.embeddings import Embedder, EmbeddingFailure, Form, open_embedder
from memlab.core.llm.base import FailureKind, Timeouts
from tests.standin import Answer, Fault, StandIn
from tests.standin.wire import pseudo_vector

QUICK = Timeouts(connect=2.0, first_token=0.4, between_tokens=0.3)
K = FailureKind


@pytest_asyncio.fixture(params=["dashscope:text-embedding-v4@256", "openai_compatible:bge-m3@768"])
async def embedder(request: pytest.FixtureRequest, standin: StandIn) -> AsyncIterator[Embedder]:
    url = standin.dashscope_url if request.param.startswith("dash") else standin.openai_url
    opened = open_embedder(
        request.param,
        api_key="sk-lab-one",
        base_url=url,
        allowed_base_urls=[url],
        timeouts=QUICK,
    )
    yield opened
    await opened.aclose()


async def test_each_text_gets_its_own_vector_normalised(embedder: Embedder) -> None:
    texts = [f"text {n}" for n in range(43)]
    vectors = await embedder.embed(texts, Form.PASSAGE)
    expected = np.array([pseudo_vector(text, embedder.dimensions) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(expected, abs=1e-6)


async def test_nothing_is_not_even_asked(embedder: Embedder, standin: StandIn) -> None:
    assert (await embedder.embed([], Form.QUERY)).shape == (0, embedder.dimensions)
    assert standin.requests == []


async def test_requests_respect_the_batch_limit_and_say_the_form(
    embedder: Embedder, standin: StandIn
) -> None:
    await embedder.embed(["a"] * 23, Form.QUERY)
    await embedder.embed(["b"], Form.PASSAGE)
    assert {request.headers["authorization"] for request in standin.requests} == {
        "Bearer sk-lab-one"
    }
    bodies = [request.body for request in standin.requests]
    if embedder.id.startswith("dashscope"):
        assert [len(body["input"]["texts"]) for body in bodies] == [10, 10, 3, 1]
        assert [body["parameters"]["text_type"] for body in bodies] == ["query"] * 3 + ["document"]
        assert {body["parameters"]["dimension"] for body in bodies} == {256}
    else:
        assert [len(body["input"]) for body in bodies] == [23, 1]
        assert {body["encoding_format"] for body in bodies} == {"float"}


@pytest.mark.parametrize(
    ("answer", "kind", "retryable"),
    [
        pytest.param(Answer(fault=Fault.WRONG_DIMENSION), K.MALFORMED, True, id="dimension"),
        pytest.param(Answer(fault=Fault.WRONG_COUNT), K.MALFORMED, True, id="count"),
        pytest.param(Answer(fault=Fault.NAN), K.MALFORMED, True, id="nan"),
        pytest.param(Answer(fault=Fault.HANG_BEFORE_HEADERS), K.TIMEOUT, True, id="hang"),
        pytest.param(Answer(fault=Fault.CUT_BEFORE_HEADERS), K.UNAVAILABLE, True, id="cut"),
        pytest.param(Answer(fault=Fault.CONTENT_FILTER), K.CONTENT_FILTER, False, id="filter"),
        pytest.param(
            Answer(fault=Fault.STATUS, status=429, code="Throttling", retry_after="3"),
            K.RATE_LIMIT,
            True,
            id="429",
        ),
        pytest.param(Answer(fault=Fault.STATUS, status=503), K.UNAVAILABLE, True, id="503"),
        pytest.param(
            Answer(fault=Fault.STATUS, status=401, code="InvalidApiKey"),
            K.AUTHENTICATION,
            False,
            id="401",
        ),
        pytest.param(
            Answer(fault=Fault.STATUS, status=400, code="InvalidParameter"),
            K.BAD_REQUEST,
            False,
            id="400",
        ),
    ],
)
async def test_fault_becomes_the_failure_it_is(
    embedder: Embedder, standin: StandIn, answer: Answer, kind: FailureKind, retryable: bool
) -> None:
    standin.script([answer])
    with pytest.raises(EmbeddingFailure) as caught:
        await embedder.embed(["我很害怕失败", "b"], Form.PASSAGE)
    failure = caught.value
    assert (failure.kind, failure.retryable) == (kind, retryable)
    assert failure.retry_after == (3.0 if answer.retry_after else None)
    assert "害怕" not in str(failure)
    assert len(standin.requests) == 1, "the SDK tried again by itself"
    await standin.settled()


async def test_after_a_fault_the_same_embedder_answers_again(
    embedder: Embedder, standin: StandIn
) -> None:
    standin.script([Answer(fault=Fault.STATUS)])
    with pytest.raises(EmbeddingFailure):
        await embedder.embed(["a"], Form.PASSAGE)
    assert (await embedder.embed(["a"], Form.PASSAGE)).shape == (1, embedder.dimensions)
