"""Choosing calls of memory tools by rule, from what the participant has just said.

A statement is held against the memories that the prompt shows: what repeats one saves it again,
what speaks against a liking weakens it, another value of the same fact updates it, what takes
something back forgets it, and what is new is saved. A question about oneself looks for memories,
and so does a contradiction of something that isn't shown: what is found then is weakened in a
second round.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memlab.core.llm.base import ChatMessage, Speaker, Tool, ToolCall
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
    prompt. After the results of a first round only what it found can be weakened."""
    said, after = _last_message(prompt)
    if said is None:
        return ()
    if not after:
        choices = list(_choices(said, prompt))
    elif sum(1 for message in after if message.tool_calls) == 1:
        choices = list(_afterthoughts(said, prompt, after))
    else:
        choices = []
    offered = {tool.name for tool in tools}
    chosen = [choice for choice in choices if choice.name in offered]
    return tuple(
        ToolCall(
            id=f"offline-{len(after)}-{number}",
            name=choice.name,
            arguments=json.dumps(choice.arguments, ensure_ascii=False),
        )
        for number, choice in enumerate(chosen[:MOST_CALLS])
    )


def _last_message(prompt: Prompt) -> tuple[str | None, tuple[ChatMessage, ...]]:
    """What the participant said last, and what came of it in this turn so far."""
    for place in range(len(prompt.messages) - 1, -1, -1):
        message = prompt.messages[place]
        if message.speaker is Speaker.USER:
            return message.content, prompt.messages[place + 1 :]
        if message.speaker is Speaker.ASSISTANT and not message.tool_calls:
            break
    return None, ()


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
    return [memory.text for memory in _found(result)]


def _found(result: str) -> list[_Known]:
    try:
        found = json.loads(result)
    except ValueError:
        return []
    memories = found.get("memories") if isinstance(found, dict) else None
    known = []
    for memory in memories if isinstance(memories, list) else ():
        fields = memory if isinstance(memory, dict) else {}
        parts = [fields.get(name) for name in ("memory", "category", "content")]
        if isinstance(parts[2], str):
            known.append(_Known(str(parts[0]), str(parts[1]), parts[2]))
    return known


def _afterthoughts(said: str, prompt: Prompt, after: Sequence[ChatMessage]) -> Iterator[_Choice]:
    """Contradictions of what only the search brought up."""
    shown = {memory.handle for memory in _known(prompt)}
    found = [
        memory
        for message in after
        if message.speaker is Speaker.TOOL
        for memory in _found(message.content)
        if memory.handle not in shown
    ]
    turn = _Turn(language=prompt.language, known=tuple(found))
    for stated in _stated(said):
        yield from _weakened(stated, turn)


def _choices(said: str, prompt: Prompt) -> Iterator[_Choice]:
    turn = _Turn(language=prompt.language, known=tuple(_known(prompt)))
    for sentence in SENTENCES.findall(said):
        if is_question(sentence) and _ONESELF.search(sentence):
            yield _Choice("recall_memory", {"query": sentence.strip()})
        for stated in _stated(sentence):
            yield from _for_statement(stated, turn)


def _stated(said: str) -> Iterator[str]:
    """What is stated in earnest, sentence by sentence."""
    for sentence in SENTENCES.findall(said):
        stated = with_subjects(statements_of(sentence)).strip()
        if stated and not SUPPOSITION.match(stated):
            yield stated


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
    if not weakened and speaks_against(stated) and topic_words(stated):
        # It may go against something that the prompt doesn't show any more.
        yield _Choice("recall_memory", {"query": stated})
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
