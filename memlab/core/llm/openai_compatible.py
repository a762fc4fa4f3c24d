"""Any server that speaks OpenAI's chat completions: DeepSeek, Ollama, vLLM, llama.cpp."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from typing import TYPE_CHECKING, Any

import openai

from memlab.core.llm.base import (
    Completion,
    FailureKind,
    Sampling,
    TextDelta,
    Timeouts,
    Tool,
    Usage,
)
from memlab.core.llm.configuration import allowed_url, required, shared_ssl_context
from memlab.core.llm.failures import Diagnosis, diagnosed, lost_connection
from memlab.core.llm.streaming import Chunk, ToolFragment, assembled, collected
from memlab.core.llm.wire import UNEXPECTED_SHAPE, wire_messages, wire_tools

if TYPE_CHECKING:
    from memlab.core.values import Prompt

# Local servers ask for no key, but the SDK would take one from the environment.
_NO_KEY = "none"


def openai_client(
    *,
    api_key: str | None,
    base_url: str | None,
    allowed_base_urls: Collection[str],
    timeouts: Timeouts,
    where: str,
) -> openai.AsyncOpenAI:
    """An SDK client for one key and one address. Raises `ProviderConfigurationError`."""
    url = required(
        base_url,
        what="an OpenAI-compatible provider needs a base URL",
        where=where,
        remedy="Enter the address of its API, up to and including /v1.",
    )
    # Waiting for tokens is timed by us: a heartbeat would reset a read timeout.
    patience = openai.Timeout(None, connect=timeouts.connect)
    client = openai.AsyncOpenAI(
        api_key=api_key or _NO_KEY,
        base_url=allowed_url(url, allowed_base_urls, where=where),
        timeout=patience,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(timeout=patience, verify=shared_ssl_context()),
    )
    # The SDK fills these from the environment; they belong to whoever set that, not to the lab.
    client.organization = None
    client.project = None
    return client


class OpenAICompatibleModel:
    """One model behind one OpenAI-compatible address. Belongs to one event loop; close it there."""

    provider = "openai_compatible"

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None,
        allowed_base_urls: Collection[str] = (),
        timeouts: Timeouts = Timeouts(),
        calls_tools: bool = True,
    ) -> None:
        self.model = model
        self.calls_tools = calls_tools
        self._timeouts = timeouts
        self._client = openai_client(
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
            where=f"provider openai_compatible, model {model}",
        )

    def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        return self._assembled(prompt, tools=tools, sampling=sampling, json=False)

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        # Streamed as well: a hanging answer shows after one missing token.
        return await collected(self._assembled(prompt, tools=(), sampling=sampling, json=json))

    async def aclose(self) -> None:
        await self._client.close()

    def _assembled(
        self, prompt: Prompt, *, tools: Sequence[Tool], sampling: Sampling, json: bool
    ) -> AsyncIterator[TextDelta | Completion]:
        parameters: dict[str, Any] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            "tools": wire_tools(tools) or None,
            "response_format": {"type": "json_object"} if json else None,
        }
        given = {name: value for name, value in parameters.items() if value is not None}
        return assembled(
            self._chunks(wire_messages(prompt), given),
            model=self.model,
            timeouts=self._timeouts,
            diagnose=diagnose,
        )

    async def _chunks(
        self, messages: list[dict[str, Any]], parameters: dict[str, Any]
    ) -> AsyncGenerator[Chunk, None]:
        # Its overloads can't be told apart when the parameters come as a dict.
        create: Any = self._client.chat.completions.create
        stream = await create(
            model=self.model,
            messages=messages,
            stream=True,
            stream_options={"include_usage": True},
            **parameters,
        )
        request_id = stream.response.headers.get("x-request-id")
        try:
            async for event in stream:
                yield _chunk(event, request_id)
        finally:
            await stream.close()


def _chunk(event: Any, request_id: str | None) -> Chunk:
    choice = event.choices[0] if event.choices else None
    delta = choice.delta if choice else None
    usage = event.usage
    return Chunk(
        text=(delta.content or "") if delta else "",
        tools=tuple(
            ToolFragment(
                index=position if call.index is None else call.index,
                id=call.id or "",
                name=(call.function.name or "") if call.function else "",
                arguments=(call.function.arguments or "") if call.function else "",
            )
            for position, call in enumerate((delta.tool_calls or ()) if delta else ())
        ),
        finish_reason=choice.finish_reason if choice else None,
        usage=Usage(usage.prompt_tokens, usage.completion_tokens) if usage else None,
        model=event.model,
        request_id=event.id or request_id,
    )


def diagnose(error: Exception, streaming: bool) -> Diagnosis | None:
    """Read what the SDK raised; None for what is not its own."""
    match error:
        case openai.APITimeoutError():
            return Diagnosis(FailureKind.TIMEOUT, "no connection in time")
        case openai.APIConnectionError():
            return lost_connection(streaming)
        case openai.APIStatusError():
            return diagnosed(error.status_code, error.code or error.type, error.response.headers)
        case openai.APIError():
            return diagnosed(None, error.code or error.type)
        case _ if isinstance(error, UNEXPECTED_SHAPE):
            return Diagnosis(
                FailureKind.MALFORMED, f"an answer of unexpected shape ({type(error).__name__})"
            )
        case _:
            return None
