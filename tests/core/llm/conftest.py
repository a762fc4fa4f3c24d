"""Both real SDKs against the loopback stand-in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from memlab.core.llm import open_model
from memlab.core.llm.base import ChatMessage, LanguageModel, Speaker, Timeouts
from memlab.core.values import Prompt, PromptTask
from tests.standin import StandIn

QUICK = Timeouts(connect=2.0, first_token=0.4, between_tokens=0.3)


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(
        task=PromptTask.REPLY,
        language="zh-hans",
        system="你是研究里的聊天伙伴。",
        messages=(ChatMessage(Speaker.USER, "今天去爬山了"),),
    )


@pytest_asyncio.fixture(params=["dashscope", "openai_compatible"])
async def model(request: pytest.FixtureRequest, standin: StandIn) -> AsyncIterator[LanguageModel]:
    """Each remote provider in turn, pointed at the stand-in, with short patience."""
    url = standin.dashscope_url if request.param == "dashscope" else standin.openai_url
    opened = open_model(
        request.param,
        "qwen-plus-2025-12-01",
        api_key="sk-lab-one",
        base_url=url,
        allowed_base_urls=[url],
        timeouts=QUICK,
    )
    yield opened
    await opened.aclose()
