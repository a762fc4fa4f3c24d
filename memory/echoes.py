"""Keeping what is known from being learned again from its own echo.

A model that extracts may give back what it was told is known, what a reply has repeated of it, or
what it was made to repeat. Somebody has to have said it for it to become a memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memory.grounding import echoed

Extracted = TypeVar("Extracted")

#: Under which an echo is counted among what was dropped of an answer.
ECHO = "echo"


async def without_echoes(
    items: Sequence[Extracted],
    *,
    text_of: Callable[[Extracted], str],
    said: Iterable[str],
    known: Iterable[str],
) -> tuple[tuple[Extracted, ...], dict[str, int]]:
    """The items that say what was ``said`` (by the participant), and how many were dropped because
    they only repeat something ``known``; see ``memory.grounding.echoed``."""
    messages, memories = tuple(said), tuple(known)

    def news() -> tuple[Extracted, ...]:
        return tuple(
            item for item in items if not echoed(text_of(item), said=messages, known=memories)
        )

    # In a thread, for the first Chinese text of a process loads a dictionary.
    kept = await asyncio.to_thread(news) if items and memories else tuple(items)
    return kept, {ECHO: len(items) - len(kept)} if len(kept) < len(items) else {}
