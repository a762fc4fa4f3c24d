"""The offline model as a `LanguageModel`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from memlab.core.llm.base import Completion, Sampling, TextDelta, Tool, ToolCall, Usage
from memlab.core.llm.offline.appraisal import appraised_statements
from memlab.core.llm.offline.binned import binned_items
from memlab.core.llm.offline.extraction import extracted_traits
from memlab.core.llm.offline.items import extracted_items
from memlab.core.llm.offline.logs import session_log
from memlab.core.llm.offline.repair import repaired_json
from memlab.core.llm.offline.reply import reply
from memlab.core.llm.offline.risk import screened_risk
from memlab.core.llm.offline.salience import rated_statements
from memlab.core.llm.offline.statements import extracted_statements, merged, summaries
from memlab.core.llm.offline.tools import called_tools, tool_calls
from memlab.core.llm.tokens import count_message_tokens, count_tokens

if TYPE_CHECKING:
    from memlab.core.values import Prompt

MODEL = "offline-1"
_PIECES = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+\s*|\s+")


class OfflineModel:
    """Answers by rules; the same prompt always gets the same answer.

    `token_delay` in seconds makes a stream slow enough to watch. Sampling
    parameters change nothing. Offered tools are called once for a message, by
    rule, and the answer follows their results.
    """

    provider = "offline"
    model = MODEL

    def __init__(self, *, token_delay: float = 0.0, calls_tools: bool = True) -> None:
        self._token_delay = token_delay
        self.calls_tools = calls_tools

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        calls = tool_calls(prompt, tools)
        if calls:
            await asyncio.sleep(self._token_delay)
            yield _completed(prompt, "", calls)
            return
        completion = _completion(prompt)
        for piece in _PIECES.findall(completion.text):
            # Gives way to other turns even without a delay, as a network would.
            await asyncio.sleep(self._token_delay)
            yield TextDelta(piece)
        yield completion

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        return _completion(prompt)

    async def aclose(self) -> None:
        """Nothing is open."""


def _completion(prompt: Prompt) -> Completion:
    return _completed(prompt, _answer(prompt))


def _completed(prompt: Prompt, text: str, calls: tuple[ToolCall, ...] = ()) -> Completion:
    contents = (prompt.system, *(message.content for message in prompt.messages))
    answered = text + "".join(call.name + call.arguments for call in calls)
    return Completion(
        text=text,
        tool_calls=calls,
        model=MODEL,
        finish_reason="tool_calls" if calls else "stop",
        usage=Usage(count_message_tokens(contents), count_tokens(answered)),
        request_id=None,
    )


def _answer(prompt: Prompt) -> str:
    match str(prompt.task):
        case "reply":
            return reply(prompt)
        case "extract_profile":
            return extracted_traits(prompt.material, known=prompt.known)
        case "rate_salience":
            return rated_statements(prompt.material)
        case "call_tools":
            return called_tools(prompt)
        case "write_log":
            return session_log(prompt.material, language=prompt.language)
        case "extract_statements":
            return extracted_statements(prompt.material)
        case "summarise":
            return summaries(prompt.material)
        case "merge_statements":
            return merged(prompt.material)
        case "appraise":
            return appraised_statements(prompt.material)
        case "extract_binned":
            return binned_items(prompt.material, known=prompt.known)
        case "repair_json":
            return repaired_json(prompt.messages[-1].content)
        case "extract_items":
            return extracted_items(prompt.material)
        case "screen_risk":
            return screened_risk(prompt.material)
        case task:
            raise NotImplementedError(f"the offline model has no rules for the task {task}")
