"""What every streaming provider shares: waiting, assembling, and failing in one way."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field, replace

from memlab.core.llm.base import (
    Completion,
    FailureKind,
    ModelFailure,
    TextDelta,
    Timeouts,
    ToolCall,
    Usage,
)
from memlab.core.llm.failures import Diagnosis

# After the finish reason only bookkeeping follows (usage, the end mark). Waiting
# long for that would hold back a reply that is complete.
_AFTER_FINISH = 3.0
_GOOD_ENDINGS = frozenset({"stop", "tool_calls", "function_call", "end_turn", "eos"})
_BAD_ENDINGS = {
    "length": FailureKind.TRUNCATED,
    "max_tokens": FailureKind.TRUNCATED,
    "content_filter": FailureKind.CONTENT_FILTER,
    "sensitive": FailureKind.CONTENT_FILTER,
    "insufficient_system_resource": FailureKind.UNAVAILABLE,
}


@dataclass(frozen=True, slots=True)
class ToolFragment:
    """A piece of a tool call; `index` says of which."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One event of a stream, whatever the provider."""

    text: str = ""
    tools: tuple[ToolFragment, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    request_id: str | None = None


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with a replacement character for what neither Postgres nor UTF-8 can hold: NUL,
    and halves of surrogate pairs, which JSON lets a server write."""
    return _UNSTORABLE.sub("\ufffd", text)


@dataclass(slots=True)
class _Assembly:
    """The reply so far."""

    asked_model: str
    texts: list[str] = field(default_factory=list)
    tools: list[ToolFragment] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  # in `tools`, of the last with an index
    finish_reason: str | None = None
    usage: Usage = field(default_factory=lambda: Usage(None, None))
    model: str | None = None
    request_id: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def add(self, chunk: Chunk) -> None:
        if chunk.text:
            self.texts.append(chunk.text)
        for piece in chunk.tools:
            self._add_tool(piece)
        self.finish_reason = chunk.finish_reason or self.finish_reason
        self.usage = chunk.usage or self.usage
        self.model = chunk.model or self.model
        self.request_id = chunk.request_id or self.request_id

    def _add_tool(self, piece: ToolFragment) -> None:
        place = self.places.get(piece.index)
        known = None if place is None else self.tools[place]
        # Some servers give every call of a message the same index: then the id tells them apart.
        if place is None or known is None or (piece.id and known.id and piece.id != known.id):
            self.places[piece.index] = len(self.tools)
            self.tools.append(piece)
            return
        self.tools[place] = ToolFragment(
            piece.index,
            known.id or piece.id,
            known.name or piece.name,
            known.arguments + piece.arguments,
        )

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order of their indices; one without a name is still a call."""
        pieces = sorted(self.tools, key=lambda piece: piece.index)
        return tuple(
            ToolCall(
                storable(piece.id) or f"call_{number}",
                storable(piece.name),
                storable(piece.arguments),
            )
            for number, piece in enumerate(pieces)
        )

    def completion(self) -> Completion | Diagnosis:
        """The finished answer, or why there is none."""
        reason = self.finish_reason
        if reason is None:
            return Diagnosis(FailureKind.CUT_STREAM, "the stream ended without a finish reason")
        if reason in _BAD_ENDINGS:
            return Diagnosis(_BAD_ENDINGS[reason], f"finish reason {reason}")
        if reason not in _GOOD_ENDINGS:
            return Diagnosis(FailureKind.MALFORMED, f"unknown finish reason {reason}")
        return Completion(
            text=self.text,
            tool_calls=self.tool_calls(),
            model=self.model or self.asked_model,
            finish_reason=reason,
            usage=self.usage,
            request_id=self.request_id,
        )


async def assembled(
    chunks: AsyncGenerator[Chunk, None],
    *,
    model: str,
    timeouts: Timeouts,
    diagnose: Callable[[Exception, bool], Diagnosis | None],
) -> AsyncIterator[TextDelta | Completion]:
    """Stream `chunks` as deltas and end with the completion, or raise `ModelFailure`.

    `diagnose(error, streaming)` reads the provider's own exceptions; what it
    doesn't know (a bug of ours) goes through unchanged. The first wait covers
    connecting and sending as well. `chunks` is closed in every case.
    """
    assembly = _Assembly(model)
    diagnosis: Diagnosis | None = None
    streaming = False
    try:
        while True:
            try:
                async with asyncio.timeout(_patience(assembly, streaming, timeouts)):
                    chunk = await anext(chunks, None)
            except Exception as error:
                diagnosis = _read(error, streaming, diagnose)
                if diagnosis is None:
                    raise
                break
            if chunk is None:
                break
            streaming = True
            chunk = replace(chunk, text=storable(chunk.text))
            assembly.add(chunk)
            if chunk.text:
                yield TextDelta(chunk.text)
    finally:
        await chunks.aclose()
    outcome = _outcome(assembly, diagnosis)
    # Raised out here, so that no SDK exception, which may quote text, hangs on it as context.
    if isinstance(outcome, Diagnosis):
        raise model_failure(outcome, partial=assembly.text)
    yield outcome


def _patience(assembly: _Assembly, streaming: bool, timeouts: Timeouts) -> float:
    if assembly.finish_reason is not None:
        return min(_AFTER_FINISH, timeouts.between_tokens)
    return timeouts.between_tokens if streaming else timeouts.first_token


def _read(
    error: Exception, streaming: bool, diagnose: Callable[[Exception, bool], Diagnosis | None]
) -> Diagnosis | None:
    if isinstance(error, TimeoutError):
        place = "between two tokens" if streaming else "before the first token"
        return Diagnosis(FailureKind.TIMEOUT, f"no answer in time {place}")
    return diagnose(error, streaming)


def _outcome(assembly: _Assembly, diagnosis: Diagnosis | None) -> Completion | Diagnosis:
    # A line that drops after the finish reason takes nothing of the reply with it.
    lost_the_rest = diagnosis is not None and diagnosis.kind in (
        FailureKind.TIMEOUT,
        FailureKind.CUT_STREAM,
    )
    if diagnosis is not None and not (assembly.finish_reason and lost_the_rest):
        return diagnosis
    return assembly.completion()


def model_failure(diagnosis: Diagnosis, *, partial: str = "") -> ModelFailure:
    """The exception for a diagnosis."""
    return ModelFailure(
        diagnosis.kind,
        diagnosis.detail,
        retryable=diagnosis.retryable,
        retry_after=diagnosis.retry_after,
        partial=partial,
    )


async def collected(stream: AsyncIterator[TextDelta | Completion]) -> Completion:
    """The completion at the end of a stream; an empty one is a failure."""
    completion: Completion | None = None
    async for event in stream:
        if isinstance(event, Completion):
            completion = event
    if completion is None:
        raise ModelFailure(FailureKind.CUT_STREAM, "the stream ended without a completion")
    if not completion.text.strip():
        raise ModelFailure(FailureKind.MALFORMED, "an empty answer")
    return completion
