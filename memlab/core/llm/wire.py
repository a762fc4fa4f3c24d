"""Messages and tools as chat APIs write them; DashScope and OpenAI agree on these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memlab.core.llm.base import ChatMessage, Speaker, Tool, ToolCall

if TYPE_CHECKING:
    from memlab.core.values import Prompt

_NAMELESS = "unnamed"
# What reading an answer of unexpected shape raises; pydantic's error is a ValueError.
UNEXPECTED_SHAPE = (AttributeError, KeyError, IndexError, TypeError, ValueError)


def wire_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """The system text and the conversation, ready to be sent."""
    system = ChatMessage(Speaker.SYSTEM, prompt.system)
    opening = (system,) if prompt.system else ()
    return [_wire_message(message) for message in (*opening, *prompt.messages)]


def _wire_message(message: ChatMessage) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": str(message.speaker), "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [_wire_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _wire_call(call: ToolCall) -> dict[str, Any]:
    """A call as the provider takes it back. Servers refuse a whole conversation for one call of
    theirs that is no JSON, or has no name: the result that follows tells the model about it."""
    return {
        "id": call.id,
        "type": "function",
        "function": {
            "name": call.name or _NAMELESS,
            "arguments": call.arguments if _is_object(call.arguments) else "{}",
        },
    }


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments, parse_constant=_refused), dict)
    except (ValueError, RecursionError):
        return False


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def wire_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Tool definitions, ready to be sent."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ]
