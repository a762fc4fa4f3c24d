"""What a call of a memory tool comes to: what the model is told, and what is staged. Pure.

A call sees only this participant's rows and names them by codes that the prompt showed, so nothing
that a model writes can point at anybody else's. What it stages is checked again when it is applied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memlab.core.llm.base import ToolCall
from memlab.core.values import Grounds, Recall
from memory.answers import storable
from memory.architectures.base import Effects, ToolResult
from memory.architectures.confidence_effects import (
    Accessed,
    Forgotten,
    Found,
    Mentioned,
    Refused,
    Saved,
    Staged,
    Updated,
    Weakened,
    undone,
)
from memory.architectures.confidence_tools import (
    FORGET,
    RECALL,
    SAVE,
    UPDATE,
    WEAKEN,
    RefusedCall,
    checked_arguments,
)
from memory.architectures.confidence_wording import ConfidenceWording
from memory.enums import MemoryKind
from memory.formulas.confidence import keyword_overlap
from memory.grounding import key_words, negated, shared, stated, support
from memory.models import Belief

#: Of what a refused call said, the beginning is kept, in characters.
KEPT_CHARACTERS = 200
_HANDLE = re.compile(r"m[1-9]\d{0,5}")


def handles_of(recall: Recall, staged: Sequence[Staged] = ()) -> dict[str, UUID]:
    """Code → memory: those that the prompt shows, then those that searches of the turn found."""
    shown = [reading.id for reading in recall.memories if reading.kind == MemoryKind.BELIEF]
    handles = {f"m{number}": memory for number, memory in enumerate(shown, start=1)}
    for each in staged:
        if isinstance(each, Accessed):
            handles |= dict(each.handles)
    return handles


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Everything one call is answered from."""

    recall: Recall
    grounds: Grounds
    rows: Mapping[UUID, Belief]
    staged: tuple[Staged, ...]
    offered: Sequence[str]
    categories: Mapping[str, bool]
    words: ConfidenceWording
    values: Mapping[str, Any]
    band_of: Callable[[Belief], str]

    def answer(self, call: ToolCall) -> tuple[ToolResult, Effects]:
        """The result that the model sees, and the effects with what this call stages."""
        try:
            if len(self.staged) >= self.values["tool_calls"]:
                raise RefusedCall("over_budget")
            if call.name not in self.offered:
                raise RefusedCall("unknown_tool")
            arguments = checked_arguments(call)
            result, staged = self._tools()[call.name](arguments)
        except RefusedCall as refusal:
            return refused(
                call, refusal.code, words=self.words, staged=self.staged, memory=refusal.memory
            )
        content = json.dumps({"ok": True, **result}, ensure_ascii=False)
        return ToolResult(content=content), Effects(staged=(*self.staged, staged))

    def _tools(self) -> Mapping[str, Callable[[dict[str, Any]], tuple[dict[str, Any], Staged]]]:
        return {
            SAVE: self._save,
            RECALL: self._recall,
            WEAKEN: self._weaken,
            UPDATE: self._update,
            FORGET: self._forget,
        }

    # The five tools: what the model is told, and what is staged

    def _save(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], Staged]:
        content, category = self._text(arguments["content"]), arguments["category"]
        if category not in self.categories:
            raise RefusedCall("unknown_category")
        twin = self._twin(content, category)
        if twin is not None:
            return self._mention(twin, content)
        if not self._said_here(content):
            raise RefusedCall("unsupported")
        elsewhere = any(self._alike(content, row.content) for row in self.rows.values())
        if elsewhere and not self._said_now(content):
            # Under another category, what is known is no news either, unless it is said now.
            raise RefusedCall("known_already")
        if any(self._alike(content, each) for each in self._saved(category)):
            raise RefusedCall("known_already")
        saved = Saved(
            content=content,
            category=category,
            factual=arguments.get("is_factual", self.categories[category]),
            message_ids=self._sources(content),
        )
        return {"saved": content}, saved

    def _mention(self, belief: Belief, content: str) -> tuple[dict[str, Any], Staged]:
        """What was saved is known: that it is said once more makes it surer."""
        if belief.pk in undone(self.staged):
            raise RefusedCall("once_a_turn", self._handle(belief.pk))
        mentioned = any(
            isinstance(each, Mentioned) and each.memory == belief.pk for each in self.staged
        )
        if mentioned or not (self._said_now(content) or self._said_now(belief.content)):
            raise RefusedCall("known_already", self._handle(belief.pk))
        mention = Mentioned(
            memory=belief.pk,
            version=belief.version,
            message_ids=_ids([self.grounds.present.id]),
        )
        return {"confirmed": belief.content}, mention

    def _recall(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], Staged]:
        found = self._search(self._text(arguments["query"]))
        named = {memory: handle for handle, memory in self._handles().items()}
        fresh: list[tuple[str, UUID]] = []
        for belief in found:
            if belief.pk not in named:
                named[belief.pk] = f"m{len(named) + 1}"
                fresh.append((named[belief.pk], belief.pk))
        memories = [
            {
                "memory": named[belief.pk],
                "content": belief.content,
                "category": belief.category,
                "confidence": self.band_of(belief),
            }
            for belief in found
        ]
        accessed = Accessed(
            memories=tuple(Found(memory=each.pk, version=each.version) for each in found),
            handles=tuple(fresh),
        )
        return {"memories": memories}, accessed

    def _weaken(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], Staged]:
        belief, reason = self._named(arguments), self._text(arguments["reason"])
        weakened = Weakened(memory=belief.pk, version=belief.version, reason=reason)
        return {"weakened": belief.content}, weakened

    def _update(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], Staged]:
        belief, content = self._named(arguments), self._text(arguments["content"])
        if not belief.factual:
            raise RefusedCall("not_factual", arguments["memory"])
        if not self._said_now(content):
            raise RefusedCall("unsupported")
        updated = Updated(
            memory=belief.pk,
            version=belief.version,
            content=content,
            message_ids=self._sources(content),
        )
        return {"updated": content}, updated

    def _forget(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], Staged]:
        belief, reason = self._named(arguments), self._text(arguments["reason"])
        forgotten = Forgotten(memory=belief.pk, version=belief.version, reason=reason)
        return {"forgotten": belief.content}, forgotten

    # What they share

    def _text(self, value: str) -> str:
        text = storable(value, longest=self.values["content_characters"])
        if text is None:
            raise RefusedCall("too_long")
        return text

    def _handles(self) -> dict[str, UUID]:
        return handles_of(self.recall, self.staged)

    def _handle(self, memory: UUID) -> str | None:
        """The code by which the model knows a memory, if it was shown it."""
        return next((code for code, known in self._handles().items() if known == memory), None)

    def _named(self, arguments: dict[str, Any]) -> Belief:
        """The memory of a code, as it was when the model saw it and not dealt with yet."""
        handle = arguments["memory"]
        memory = self._handles().get(handle) if _HANDLE.fullmatch(handle) else None
        if memory is None:
            raise RefusedCall("unknown_memory")
        if memory in undone(self.staged):
            raise RefusedCall("once_a_turn", handle)
        belief = self.rows.get(memory)
        shown = next((reading for reading in self.recall.memories if reading.id == memory), None)
        if belief is None or (shown is not None and shown.text != belief.content):
            raise RefusedCall("changed_meanwhile", handle)
        return belief

    def _twin(self, content: str, category: str) -> Belief | None:
        """The memory that a saved content repeats.

        A denial shares its keywords with what it denies. It is no mention of it: the model is told
        to weaken or to correct that memory, if it knows it.
        """
        # Equal ones stay in the order in which they were formed.
        alike = sorted(
            (
                belief
                for belief in self.rows.values()
                if belief.category == category and self._alike(content, belief.content)
            ),
            key=lambda belief: (
                -_overlap(content, belief.content),
                belief.formed_at,
                belief.position,
            ),
        )
        for belief in alike:
            if negated(content) == negated(belief.content):
                return belief
        for belief in alike:
            handle = self._handle(belief.pk)
            if handle is not None:
                code = "once_a_turn" if belief.pk in undone(self.staged) else "contradicts"
                raise RefusedCall(code, handle)
        return None

    def _alike(self, content: str, other: str) -> bool:
        return _overlap(content, other) >= float(self.values["duplicate_overlap"])

    def _saved(self, category: str) -> list[str]:
        """What this turn has saved so far in a category."""
        return [
            each.content
            for each in self.staged
            if isinstance(each, Saved) and each.category == category
        ]

    def _search(self, query: str) -> list[Belief]:
        """The memories that share words with a query, by overlap, then by confidence."""
        wanted = key_words(query)
        scored = []
        for belief in self.rows.values():
            common = shared(wanted, belief.content)
            if common:
                overlap = len(common) / len(wanted | key_words(belief.content))
                scored.append((-overlap, -belief.confidence, str(belief.pk), belief))
        return [belief for *_, belief in sorted(scored)][: self.values["recall_limit"]]

    def _supported(self, content: str, messages: Iterable[str]) -> bool:
        least: float = self.values["support"]
        return least <= 0 or support(content, map(stated, messages)) >= least

    def _said_now(self, content: str) -> bool:
        return self._supported(content, [self.grounds.present.text])

    def _said_here(self, content: str) -> bool:
        """In this session, the present message included."""
        said = (*self.grounds.before, self.grounds.present)
        return self._supported(content, [each.text for each in said])

    def _sources(self, content: str) -> tuple[UUID, ...]:
        """The messages that hold words of a content; the present one if none does."""
        wanted = key_words(content)
        holding = [
            each.id
            for each in (*self.grounds.before, self.grounds.present)
            if shared(wanted, stated(each.text))
        ]
        return _ids(holding or [self.grounds.present.id])


def refused(
    call: ToolCall,
    code: str,
    *,
    words: ConfidenceWording,
    staged: Sequence[Staged],
    memory: str | None = None,
) -> tuple[ToolResult, Effects]:
    """The error that answers a call, which ``memory`` it is about, and the event of it staged."""
    told = {"error": code, "message": words.refusals[code]}
    if memory is not None:
        told["memory"] = memory
    refusal = Refused(tool=_kept(call.name), code=code, arguments=_kept(call.arguments))
    return (
        ToolResult(content=json.dumps(told, ensure_ascii=False), refused=True),
        Effects(staged=(*staged, refusal)),
    )


def _overlap(one: str, other: str) -> float:
    return keyword_overlap(first=key_words(one), second=key_words(other))


def _ids(messages: Sequence[str]) -> tuple[UUID, ...]:
    return tuple(UUID(message) for message in messages if message)


def _kept(written: str) -> str:
    """The beginning of what a model wrote, as Postgres can store it."""
    readable = written[:KEPT_CHARACTERS].encode(errors="replace").decode()
    return readable.replace("\x00", "�")
