"""Choosing calls of memory tools by rule, from what the participant has just said.

A statement is held against the memories that the prompt shows: what repeats one saves it again,
what speaks against a liking weakens it, another value of the same fact updates it, what takes
something back forgets it, and what is new is saved. A question about oneself looks for memories.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memlab.core.llm.base import Speaker, Tool, ToolCall
from memlab.core.llm.offline.facts import facts_in, labelled
from memlab.core.llm.offline.patterns import SUPPOSITION
from memlab.core.llm.offline.sentences import (
    SENTENCES,
    is_question,
    statements_of,
    with_subjects,
)
from memlab.core.llm.offline.stance import speaks_against, takes_back, topic_words

if TYPE_CHECKING:
    from memlab.core.values import Prompt

#: A turn that would call more than this has said more than rules can follow.
MOST_CALLS = 6
_LINE = re.compile(r"\[(?P<handle>m\d+)\] \[(?P<category>[^\]]+)\] (?P<text>.+)$")
_FACTUAL = ("event", "learning")
_ONESELF = re.compile(r"我|记得|\b(?:i|i'm|i've|my|me|mine|remember)\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[,，;；]|\bbut\b|但是?|不过|可是|而是", re.IGNORECASE)
#: Of a memory's topic words, the share that a clause must name to be about it.
_ABOUT = 0.5


@dataclass(frozen=True, slots=True)
class _Choice:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Known:
    handle: str
    category: str
    text: str

    def is_named_in(self, text: str) -> bool:
        """Whether a text is about this memory."""
        words = topic_words(self.text)
        return bool(words) and len(words & topic_words(text)) / len(words) >= _ABOUT


@dataclass(slots=True)
class _Turn:
    """What is known, and which of it this turn has dealt with already."""

    language: str
    known: tuple[_Known, ...]
    touched: set[str] = field(default_factory=set)

    def about(self, text: str) -> list[_Known]:
        """The memories that a text is about and that nothing has been done to yet."""
        return [
            memory
            for memory in self.known
            if memory.handle not in self.touched and memory.is_named_in(text)
        ]


def tool_calls(prompt: Prompt, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """The calls for the message that was just said, of the offered tools; the same for the same
    prompt. None once the model has been answered by a tool."""
    if not prompt.messages or prompt.messages[-1].speaker is not Speaker.USER:
        return ()
    offered = {tool.name for tool in tools}
    chosen = [
        choice for choice in _choices(prompt.messages[-1].content, prompt) if choice.name in offered
    ]
    return tuple(
        ToolCall(
            id=f"offline-{number}",
            name=choice.name,
            arguments=json.dumps(choice.arguments, ensure_ascii=False),
        )
        for number, choice in enumerate(chosen[:MOST_CALLS])
    )


def called_tools(prompt: Prompt) -> str:
    """The same choice for a finished turn, as JSON; nothing is looked for after the fact."""
    said = " ".join(statement.text for statement in prompt.material)
    calls = [
        {"name": choice.name, "arguments": choice.arguments}
        for choice in _choices(said, prompt)
        if choice.name != "recall_memory"
    ]
    return json.dumps({"calls": calls[:MOST_CALLS]}, ensure_ascii=False)


def found_by_tool(result: str) -> list[str]:
    """The memories that a tool's result quotes; none in a result of another shape."""
    try:
        found = json.loads(result)
    except ValueError:
        return []
    memories = found.get("memories") if isinstance(found, dict) else None
    return [
        memory["content"]
        for memory in (memories if isinstance(memories, list) else ())
        if isinstance(memory, dict) and isinstance(memory.get("content"), str)
    ]


def _choices(said: str, prompt: Prompt) -> Iterator[_Choice]:
    turn = _Turn(language=prompt.language, known=tuple(_known(prompt)))
    for sentence in SENTENCES.findall(said):
        if is_question(sentence) and _ONESELF.search(sentence):
            yield _Choice("recall_memory", {"query": sentence.strip()})
        stated = with_subjects(statements_of(sentence)).strip()
        if stated and not SUPPOSITION.match(stated):
            yield from _for_statement(stated, turn)


def _known(prompt: Prompt) -> Iterator[_Known]:
    for section in prompt.sections:
        for line in section.lines:
            found = _LINE.search(line)
            if found is not None:
                yield _Known(found["handle"], found["category"], found["text"])


def _for_statement(stated: str, turn: _Turn) -> Iterator[_Choice]:
    if takes_back(stated):
        for memory in turn.about(stated):
            turn.touched.add(memory.handle)
            yield _Choice("forget_memory", {"memory": memory.handle, "reason": stated})
        return
    weakened = list(_weakened(stated, turn))
    yield from weakened
    yield from _facts(stated, turn)
    if not weakened:
        yield from _repeated(stated, turn)


def _weakened(stated: str, turn: _Turn) -> Iterator[_Choice]:
    """Likings that a clause speaks against, or dislikes that one speaks for."""
    for clause in _CLAUSES.split(stated):
        for memory in turn.about(clause):
            subjective = memory.category not in _FACTUAL
            if subjective and speaks_against(clause) != speaks_against(memory.text):
                turn.touched.add(memory.handle)
                yield _Choice("weaken_memory", {"memory": memory.handle, "reason": clause.strip()})


def _facts(stated: str, turn: _Turn) -> Iterator[_Choice]:
    """What a statement tells: new, once more, or in place of what was known."""
    for fact in facts_in(stated, language=turn.language):
        before = [
            memory
            for memory in turn.known
            if fact.label and labelled(memory.text, language=turn.language) == fact.label
        ]
        if before and before[0].text != fact.text:
            turn.touched.add(before[0].handle)
            yield _Choice("update_memory", {"memory": before[0].handle, "content": fact.text})
        elif not any(memory.handle in turn.touched for memory in _alike(fact.text, turn)):
            turn.touched.update(memory.handle for memory in _alike(fact.text, turn))
            yield _Choice("save_memory", {"content": fact.text, "category": fact.category})


def _alike(text: str, turn: _Turn) -> list[_Known]:
    return [memory for memory in turn.known if memory.is_named_in(text)]


def _repeated(stated: str, turn: _Turn) -> Iterator[_Choice]:
    """Likings that come up again are saved again, in the words that they are known by."""
    for memory in turn.about(stated):
        if memory.category not in _FACTUAL:
            turn.touched.add(memory.handle)
            yield _Choice("save_memory", {"content": memory.text, "category": memory.category})
