"""What every language model looks like from inside Memlab.

The platform talks to a model through one protocol, `LanguageModel`, and meets
one exception, `ModelFailure`. Providers translate; nothing above this package
ever sees an SDK object or an SDK exception. No Django here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memlab.core.values import Prompt


class Speaker(StrEnum):
    """Who said a message, in the words every chat API shares."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asked for; `arguments` is its JSON exactly as written, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation as a model gets it."""

    speaker: Speaker
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters; None leaves the provider's own default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; None where the provider did not say."""

    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of a streamed reply, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer. `model` is the id that the provider returned, not the one asked for."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    model: str
    finish_reason: str
    usage: Usage
    request_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait, in seconds: to connect, for the first event, between events."""

    connect: float = 10.0
    first_token: float = 60.0
    between_tokens: float = 30.0


class FailureKind(StrEnum):
    """Why a model or an embedder did not answer."""

    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    CONTENT_FILTER = "content_filter"
    TRUNCATED = "truncated"
    CUT_STREAM = "cut_stream"
    MALFORMED = "malformed"
    UNAVAILABLE = "unavailable"
    AUTHENTICATION = "authentication"
    BAD_REQUEST = "bad_request"


# The same request again may well succeed. A filtered or refused request will not
# change its mind, and a truncated one will be truncated at the same place.
WORTH_RETRYING = frozenset(
    {
        FailureKind.TIMEOUT,
        FailureKind.RATE_LIMIT,
        FailureKind.CUT_STREAM,
        FailureKind.MALFORMED,
        FailureKind.UNAVAILABLE,
    }
)

# Another model may answer where this one doesn't: its provider is away or overloaded, or refuses
# the key. A filtered request is carried to no other model, nor is one that was refused for what it
# holds, for some providers call their filter that; what was truncated has met the study's limit.
WORTH_ANOTHER_MODEL = WORTH_RETRYING | {FailureKind.AUTHENTICATION}


class ModelFailure(Exception):
    """A model did not give a finished answer.

    `retryable` says whether the same request is worth another try; whoever asks
    decides, and only before the first token (`partial` empty). `detail` goes to
    logs and the back office, so it never holds a participant's text.
    `retry_after` is in seconds, where the provider named a time.
    """

    def __init__(
        self,
        kind: FailureKind,
        detail: str,
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
        partial: str = "",
    ) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail
        self.retryable = kind in WORTH_RETRYING if retryable is None else retryable
        self.retry_after = retry_after
        self.partial = partial

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


class LanguageModel(Protocol):
    """One model at one provider, with one lab's key.

    `calls_tools` says whether it can be offered tools; one that can't is never.
    """

    provider: str
    model: str
    calls_tools: bool

    def stream(
        self,
        prompt: Prompt,
        *,
        tools: Sequence[Tool] = (),
        sampling: Sampling = Sampling(),
    ) -> AsyncIterator[TextDelta | Completion]:
        """Yield the reply piece by piece, then exactly one `Completion`, which may be empty.

        Raises `ModelFailure`; never tries again by itself. Whoever stops early
        closes the iterator (`aclose()`), which closes the connection.
        """
        ...

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        """The whole answer at once; `json` asks the provider for a JSON object.

        Raises `ModelFailure`.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; the model is not used afterwards."""
        ...
