"""What of a participant's items a message calls up, and what of the working set a prompt carries.

Pure: what decides comes loaded, the query's words and the relevances with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Generic, TypeVar
from uuid import UUID

from memlab.core.llm.tokens import count_tokens
from memory.models import RetainedItem
from memory.models.retention_rule import Point, Retention
from memory.words import words


@dataclass(slots=True)
class Sketch:
    """As much of an item as decides whether a prompt carries it: of thousands few are carried, and
    rows in full take ten times as long to load. ``words`` and session only where they rank."""

    pk: UUID
    text: str
    importance: float
    hits: int
    anchor: datetime
    anchor_turn: int
    rehearsals: int
    session_id: UUID | None = None
    words: Sequence[str] = ()

    @property
    def accessed(self) -> Point:
        return Point(at=self.anchor, turn=self.anchor_turn)


Item = TypeVar("Item", bound="RetainedItem | Sketch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cued(Generic[Item]):
    """One item as a message finds it. ``relevance`` is None where there is no query vector, or
    where the item was embedded by another embedder; ``keyword`` is the one the message holds."""

    item: Item
    relevance: float | None = None
    keyword: str | None = None
    score: float
    archived: bool

    def called_up(self, wake_relevance: float) -> bool:
        by_meaning = self.relevance is not None and self.relevance >= wake_relevance
        return by_meaning or self.keyword is not None


def keyword_in(keywords: Iterable[str], spoken: frozenset[str]) -> str | None:
    """The first keyword all of whose words are among those ``spoken``; None if there is none."""
    for keyword in keywords:
        cut = _cut(keyword)
        if cut and spoken.issuperset(cut):
            return keyword
    return None


@lru_cache(maxsize=10_000)
def _cut(keyword: str) -> tuple[str, ...]:
    """A keyword's words; the same few are asked for with every message."""
    return words(keyword)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried(Generic[Item]):
    """What a prompt carries, best score first, and which of it this message woke or called up."""

    shown: tuple[Cued[Item], ...]
    woken: frozenset[UUID]
    called_up: frozenset[UUID]


def carried(
    *,
    at_hand: Iterable[Cued[Item]],
    woken: Iterable[Cued[Item]],
    wake_relevance: float,
    retention: Retention,
    budget: int,
) -> Carried[Item]:
    """The working set as far as the budget goes.

    What the message calls up counts with the score it has once it is touched. What it wakes has
    its place before the rest, for it is to be seen in this very prompt.
    """

    def rank(each: Cued[Item]) -> tuple[float, float, UUID]:
        score = each.score
        if each.called_up(wake_relevance):
            score = retention.score_once_touched(each.item)
        return -score, -each.item.anchor.timestamp(), each.item.pk

    first = sorted(woken, key=rank)
    ranked = [*first, *sorted(at_hand, key=rank)]
    kept = ranked[: fitting((each.item.text for each in ranked), budget=budget)]
    called_up = frozenset(each.item.pk for each in kept if each.called_up(wake_relevance))
    return Carried(
        shown=tuple(sorted(kept, key=rank)),
        woken=called_up & {each.item.pk for each in first},
        called_up=called_up,
    )


def line(text: str) -> str:
    """One item as a line of Markdown."""
    return f"- {text}"


def fitting(ranked: Iterable[str], *, budget: int) -> int:
    """How many of the texts, best first, fit a budget of tokens; whole ones, without a gap."""
    kept = used = 0
    for text in ranked:
        used += count_tokens(line(text))
        if used > budget:
            break
        kept += 1
    return kept


def most_lines(budget: int) -> int:
    """More items than that never fit: a line is its dash and at least one token of text."""
    return budget // 2


_TITLES = {"en": "What the user told you", "zh-hans": "用户告诉过你的事"}
_OFFERS = {
    "en": "Something you may bring up yourself if it fits",
    "zh-hans": "若合适，你可以主动提起的事",
}


def title(language: str) -> str:
    """The heading of ``context.md``, in the prompt and in the file."""
    return _TITLES[language]


def offer(language: str) -> str:
    """The heading above what is offered for rehearsal."""
    return _OFFERS[language]


def context_markdown(texts: Sequence[str], *, language: str) -> Iterator[str]:
    """``context.md``, line by line: a heading, and an item a line, best first."""
    yield f"# {title(language)}\n\n"
    for text in texts:
        yield f"{line(text)}\n"
