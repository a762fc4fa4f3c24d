"""The door to language models: one protocol, three providers.

Provider modules are imported when a model is opened: the SDKs take a second to
load, and values.py, which every module imports, comes through this package.
"""

from __future__ import annotations

from collections.abc import Collection

from memlab.core.llm.base import LanguageModel, Timeouts
from memlab.core.llm.configuration import ProviderConfigurationError, required

PROVIDERS = ("dashscope", "openai_compatible", "offline")

__all__ = ["PROVIDERS", "ProviderConfigurationError", "open_model"]


def open_model(
    provider: str,
    model: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    allowed_base_urls: Collection[str] = (),
    timeouts: Timeouts = Timeouts(),
    calls_tools: bool = True,
) -> LanguageModel:
    """Open one model with one lab's key; nothing is sent yet.

    `calls_tools` is False for a model that its server can't offer tools to.

    A model belongs to the event loop that first uses it and is closed there with
    `aclose()`. Raises `ProviderConfigurationError`.
    """
    if provider == "offline":
        from memlab.core.llm.offline import OfflineModel

        return OfflineModel(calls_tools=calls_tools)
    name = required(
        model,
        what="no model is named",
        where=f"provider {provider}",
        remedy="Name one as the provider lists it, with its date where it has one.",
    )
    if provider == "dashscope":
        from memlab.core.llm.dashscope import DashScopeModel

        return DashScopeModel(
            name,
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
            calls_tools=calls_tools,
        )
    if provider == "openai_compatible":
        from memlab.core.llm.openai_compatible import OpenAICompatibleModel

        return OpenAICompatibleModel(
            name,
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
            calls_tools=calls_tools,
        )
    raise ProviderConfigurationError(
        what=f"there is no provider {provider!r}",
        where=f"model {model}",
        remedy=f"Choose one of {', '.join(PROVIDERS)}.",
    )
