"""A model that can't be opened says what is wrong, where, and what to do."""

from __future__ import annotations

import pytest

from memlab.core.llm import PROVIDERS, ProviderConfigurationError, open_model

LIST = ["http://127.0.0.1:11434/v1/"]


def test_three_providers() -> None:
    assert PROVIDERS == ("dashscope", "openai_compatible", "offline")


@pytest.mark.parametrize(
    ("provider", "model", "key", "url", "what"),
    [
        ("dashscope", "qwen-plus", None, None, "DashScope needs an API key"),
        (
            "dashscope",
            "qwen-plus",
            "k",
            "http://10.0.0.1/api",
            "the base URL http://10.0.0.1/api is not allowed here",
        ),
        ("openai_compatible", "m", "k", None, "an OpenAI-compatible provider needs a base URL"),
        (
            "openai_compatible",
            "m",
            "k",
            "http://169.254.169.254/v1",
            "the base URL http://169.254.169.254/v1 is not allowed here",
        ),
        ("openai_compatible", " ", "k", LIST[0], "no model is named"),
        ("mystery", "m", "k", None, "there is no provider 'mystery'"),
    ],
)
def test_wrong_configuration_is_refused(
    provider: str, model: str, key: str | None, url: str | None, what: str
) -> None:
    with pytest.raises(ProviderConfigurationError) as caught:
        open_model(provider, model, api_key=key, base_url=url, allowed_base_urls=LIST)
    assert caught.value.what == what
    assert caught.value.remedy
    assert provider in caught.value.where or model in caught.value.where


async def test_listed_address_is_accepted_with_or_without_its_last_slash() -> None:
    model = open_model(
        "openai_compatible", "qwen3", base_url="http://127.0.0.1:11434/v1", allowed_base_urls=LIST
    )
    assert (model.provider, model.model) == ("openai_compatible", "qwen3")
    await model.aclose()
