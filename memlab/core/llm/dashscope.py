"""Qwen and its relatives through DashScope's native protocol, with the SDK's `AsyncClient`.

Everything the SDK would otherwise take from the environment, a file in the home
folder or module globals is given explicitly: one lab's key never meets another's.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from typing import TYPE_CHECKING, Any

import httpx
from dashscope.v2 import AsyncClient, errors
from httpx_sse import SSEError

from memlab.core.llm.base import (
    Completion,
    FailureKind,
    Sampling,
    TextDelta,
    Timeouts,
    Tool,
    Usage,
)
from memlab.core.llm.configuration import (
    DASHSCOPE_DEFAULT_URL,
    DASHSCOPE_URLS,
    allowed_url,
    required,
    shared_ssl_context,
)
from memlab.core.llm.failures import Diagnosis, diagnosed, lost_connection
from memlab.core.llm.streaming import Chunk, ToolFragment, assembled, collected
from memlab.core.llm.wire import UNEXPECTED_SHAPE, wire_messages, wire_tools

if TYPE_CHECKING:
    from memlab.core.values import Prompt

_LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)


def dashscope_client(
    *,
    api_key: str | None,
    base_url: str | None,
    allowed_base_urls: Collection[str],
    timeouts: Timeouts,
    where: str,
) -> tuple[AsyncClient, httpx.AsyncClient]:
    """An SDK client for one key, and the HTTP client under it (whoever opens it closes it).

    Raises `ProviderConfigurationError`.
    """
    key = required(
        api_key,
        what="DashScope needs an API key",
        where=where,
        remedy="Enter the lab's key under provider keys.",
    )
    url = allowed_url(
        base_url or DASHSCOPE_DEFAULT_URL, {*DASHSCOPE_URLS, *allowed_base_urls}, where=where
    )
    http = httpx.AsyncClient(
        base_url=url,
        headers={"Authorization": f"Bearer {key}"},
        # Waiting for tokens is timed by us: a heartbeat would reset a read timeout.
        timeout=httpx.Timeout(None, connect=timeouts.connect),
        limits=_LIMITS,
        verify=shared_ssl_context(),
    )
    client = AsyncClient(
        api_key=key,
        base_url=url,
        workspace="",
        region="cn-beijing",
        protocol="native",
        timeout=timeouts.first_token,
        max_retries=0,
        config_path=os.devnull,
        http_client=http,
    )
    return client, http


class DashScopeModel:
    """One model at DashScope. Belongs to one event loop; close it there."""

    provider = "dashscope"

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str | None = None,
        allowed_base_urls: Collection[str] = (),
        timeouts: Timeouts = Timeouts(),
        calls_tools: bool = True,
    ) -> None:
        where = f"provider dashscope, model {model}"
        self.model = model
        self.calls_tools = calls_tools
        self._timeouts = timeouts
        self._client, self._http = dashscope_client(
            api_key=api_key,
            base_url=base_url,
            allowed_base_urls=allowed_base_urls,
            timeouts=timeouts,
            where=where,
        )

    def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        return self._assembled(prompt, tools=tools, sampling=sampling, json=False)

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        # Streamed as well: a hanging answer shows after one missing token, and
        # thinking models refuse anything else.
        return await collected(self._assembled(prompt, tools=(), sampling=sampling, json=json))

    async def aclose(self) -> None:
        await self._http.aclose()

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
        return assembled(
            self._chunks(wire_messages(prompt), parameters),
            model=self.model,
            timeouts=self._timeouts,
            diagnose=diagnose,
        )

    async def _chunks(
        self, messages: list[dict[str, Any]], parameters: dict[str, Any]
    ) -> AsyncGenerator[Chunk, None]:
        # Its overloads can't be told apart when the parameters come as a dict.
        create: Any = self._client.chat.completions.create
        stream = await create(model=self.model, messages=messages, stream=True, **parameters)
        try:
            async for event in stream:
                yield _chunk(event)
        finally:
            await stream.aclose()


def _chunk(event: Any) -> Chunk:
    choice = event.choices[0] if event.choices else None
    delta = choice.delta if choice else None
    # DashScope writes the word "null" until the last event.
    finish = choice.finish_reason if choice and choice.finish_reason != "null" else None
    return Chunk(
        text=(delta.content or "") if delta else "",
        tools=tuple(
            ToolFragment(
                index=position if call.index is None else call.index,
                id=call.id or "",
                name=call.function.name or "",
                arguments=call.function.arguments or "",
            )
            for position, call in enumerate((delta.tool_calls or ()) if delta else ())
        ),
        finish_reason=finish,
        usage=Usage(event.usage.input_tokens, event.usage.output_tokens) if event.usage else None,
        model=event.model,
        request_id=event.request_id,
    )


def diagnose(error: Exception, streaming: bool) -> Diagnosis | None:
    """Read what the SDK, or the HTTP client under it, raised; None for what is not theirs."""
    match error:
        case errors.APITimeoutError() | httpx.TimeoutException():
            return Diagnosis(FailureKind.TIMEOUT, "no connection in time")
        case SSEError():
            return Diagnosis(FailureKind.MALFORMED, "the answer is not an event stream")
        case errors.APIConnectionError() | httpx.TransportError():
            return lost_connection(streaming)
        case errors.DashScopeError() if error.code is None and error.status_code is None:
            return Diagnosis(FailureKind.MALFORMED, "an event of the stream is not a JSON object")
        case errors.DashScopeError():
            return diagnosed(error.status_code, error.code, error.headers)
        case _ if isinstance(error, UNEXPECTED_SHAPE):
            return Diagnosis(
                FailureKind.MALFORMED, f"an answer of unexpected shape ({type(error).__name__})"
            )
        case _:
            return None
