"""The rounds of a reply whose model calls tools: it talks, calls, is told, and goes on.

Text is shown as it comes, in whichever round, for what was shown can't be taken back: the reply is
the text of all rounds. Tool calls and their results go between model and memory alone.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Any

from chat.streaming import Answer, streamed
from memlab.core.llm.base import ChatMessage, Completion, LanguageModel, Sampling, Speaker, ToolCall
from memlab.core.values import Prompt, Recall
from memory.architectures.base import NO_EFFECTS, Architecture, ToolResult

OVER_BUDGET = "over_budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade:
    """One tool call as a receipt keeps it: ``arguments`` as the model wrote them."""

    round: int
    name: str
    arguments: str
    result: str
    refused: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Toolbox:
    """A turn's tools, and what calling them has come to: ``effects`` are staged, none is applied.

    ``seconds`` is the time that the calls took.
    """

    def __init__(self, architecture: Architecture, recall: Recall) -> None:
        self.tools = architecture.tools()
        self.effects = NO_EFFECTS
        self.made: list[CallMade] = []
        self.seconds = 0.0
        self._architecture = architecture
        self._recall = recall
        self._rounds = architecture.tool_budget().rounds if self.tools else 0

    def is_over(self, number: int) -> bool:
        """Whether the calls of a round, counted from 1, are beyond the budget."""
        return number > self._rounds

    async def answer(self, calls: Sequence[ToolCall], *, number: int) -> tuple[ChatMessage, ...]:
        """Make the calls of a round in their order, or refuse them; a message for each result."""
        started = time.monotonic()
        messages = []
        for call in calls:
            result = await self._result(call, number)
            self.made.append(
                CallMade(
                    round=number,
                    name=call.name,
                    arguments=call.arguments,
                    result=result.content,
                    refused=result.refused,
                )
            )
            messages.append(ChatMessage(Speaker.TOOL, result.content, tool_call_id=call.id))
        self.seconds += time.monotonic() - started
        return tuple(messages)

    async def _result(self, call: ToolCall, number: int) -> ToolResult:
        if self.is_over(number):
            result, self.effects = self._architecture.refuse_call(self.effects, call, OVER_BUDGET)
        else:
            result, self.effects = await self._architecture.call_tool(
                self._recall, self.effects, call, self._recall.at
            )
        return result


async def talked(
    model: LanguageModel,
    prompt: Prompt,
    sampling: Sampling,
    answer: Answer,
    toolbox: Toolbox | None = None,
) -> AsyncGenerator[str, None]:
    """Yield the reply's text, round by round, and note in ``answer`` and ``toolbox`` how it went.

    Whoever calls beyond the last round is told so, and asked once more without tools. Raises
    ModelFailure as ``streamed`` does.
    """
    tools = toolbox.tools if toolbox is not None else ()
    while True:
        async with aclosing(streamed(model, prompt, sampling, answer, tools)) as pieces:
            async for piece in pieces:
                yield piece
        completion = answer.completions[-1]
        if toolbox is None or not tools or not completion.tool_calls:
            return
        number = len(answer.completions)
        results = await toolbox.answer(completion.tool_calls, number=number)
        prompt = _continued(prompt, completion, results)
        if toolbox.is_over(number):
            tools = ()


def _continued(prompt: Prompt, said: Completion, results: Sequence[ChatMessage]) -> Prompt:
    """The conversation with what the model said and called, and what it was told."""
    called = ChatMessage(Speaker.ASSISTANT, said.text, tool_calls=said.tool_calls)
    return replace(prompt, messages=(*prompt.messages, called, *results))
