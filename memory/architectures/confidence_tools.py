"""The memory tools: how they are declared, and whether a call is one of them. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from memlab.core.llm.base import Tool, ToolCall
from memory.architectures.confidence_wording import ConfidenceWording

SAVE, RECALL, WEAKEN = "save_memory", "recall_memory", "weaken_memory"
UPDATE, FORGET = "update_memory", "forget_memory"
#: Field → type, by tool; a field that may be left out ends with a question mark.
FIELDS: Mapping[str, Mapping[str, type]] = MappingProxyType(
    {
        SAVE: {"content": str, "category": str, "is_factual?": bool},
        RECALL: {"query": str},
        WEAKEN: {"memory": str, "reason": str},
        UPDATE: {"memory": str, "content": str},
        FORGET: {"memory": str, "reason": str},
    }
)
#: Longer arguments aren't read.
MOST_ARGUMENTS = 8000
_JSON_TYPES = {str: "string", bool: "boolean"}


def declared_tools(
    words: ConfidenceWording, *, categories: Mapping[str, bool], longest: int
) -> tuple[Tool, ...]:
    """The tools as a model is told about them."""
    return tuple(
        Tool(
            name,
            words.descriptions[name],
            {
                "type": "object",
                "properties": {
                    field.rstrip("?"): _schema(field.rstrip("?"), kind, words, categories, longest)
                    for field, kind in fields.items()
                },
                "required": [field for field in fields if not field.endswith("?")],
                "additionalProperties": False,
            },
        )
        for name, fields in FIELDS.items()
    )


def _schema(
    field: str,
    kind: type,
    words: ConfidenceWording,
    categories: Mapping[str, bool],
    longest: int,
) -> dict[str, Any]:
    description = words.arguments[field].format(longest=longest, categories=", ".join(categories))
    schema: dict[str, Any] = {"type": _JSON_TYPES[kind], "description": description}
    if field == "category":
        schema["enum"] = list(categories)
    return schema


class RefusedCall(Exception):
    """A call comes to nothing; ``code`` names the reason, ``memory`` the code of a memory."""

    def __init__(self, code: str, memory: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.memory = memory


def checked_arguments(call: ToolCall) -> dict[str, Any]:
    """A call's arguments if they are exactly what its tool declares. Raises RefusedCall."""
    fields = {name.rstrip("?"): kind for name, kind in FIELDS[call.name].items()}
    needed = {name for name in FIELDS[call.name] if not name.endswith("?")}
    if len(call.arguments) > MOST_ARGUMENTS:
        raise RefusedCall("too_long")
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        raise RefusedCall("malformed") from None
    if not isinstance(arguments, dict):
        raise RefusedCall("malformed")
    if "is_factual" in arguments and arguments["is_factual"] is None:
        del arguments["is_factual"]
    if not needed <= arguments.keys() <= fields.keys():
        raise RefusedCall("malformed")
    if any(type(value) is not fields[name] for name, value in arguments.items()):
        raise RefusedCall("malformed")
    return arguments
