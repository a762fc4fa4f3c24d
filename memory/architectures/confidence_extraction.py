"""Asking a model for a finished turn's tool calls and for a session's log; answers are checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memlab.core.llm.base import LanguageModel, Tool, ToolCall
from memlab.core.values import Section, Statement, Turn
from memory.answers import storable
from memory.architectures.confidence_prompts import calls_prompt, log_prompt
from memory.extraction import ExtractionFailed, asked

#: More calls than this for one turn are not an answer but noise.
MOST_CALLS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line about a session, and the messages it rests on."""

    text: str
    message_ids: tuple[UUID, ...]


async def asked_calls(
    model: LanguageModel,
    *,
    language: str,
    turn: Turn,
    tools: Sequence[Tool],
    sections: Sequence[Section],
) -> list[ToolCall]:
    """The calls that a turn calls for, as unchecked as a model's own. Raises ExtractionFailed."""
    prompt = calls_prompt(language=language, turn=turn, tools=tools, sections=sections)
    items = await asked(model, prompt, holding="calls")
    return [_as_call(item, place) for place, item in enumerate(items[:MOST_CALLS])]


async def asked_log(
    model: LanguageModel, *, language: str, said: Sequence[Statement], longest: int
) -> LogEntry | None:
    """A session's line; None if the model finds nothing worth noting.

    Raises ExtractionFailed if there is no usable answer: the step is tried again.
    """
    prompt = log_prompt(language=language, statements=said, longest=longest)
    entries = await asked(model, prompt, holding="entries")
    if not entries:
        return None
    entry = entries[0] if isinstance(entries[0], dict) else {}
    text, named = storable(entry.get("text"), longest=longest), entry.get("messages")
    known = {each.id: UUID(each.id) for each in said}
    messages = [
        known[each]
        for each in (named if isinstance(named, list) else ())
        if isinstance(each, str) and each in known
    ]
    if text is None or not messages:
        raise ExtractionFailed("extraction:unusable_log")
    return LogEntry(text=text, message_ids=tuple(dict.fromkeys(messages)))


def _as_call(item: object, place: int) -> ToolCall:
    """What a model listed as a call; what is none is refused later as one without a name."""
    listed = item if isinstance(item, dict) else {}
    name, arguments = listed.get("name"), listed.get("arguments")
    return ToolCall(
        id=str(place),
        name=name if isinstance(name, str) else "",
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
    )
