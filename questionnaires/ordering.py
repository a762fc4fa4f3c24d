"""In which order a response's items are shown: a pure function of content and seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from questionnaires.content import InstrumentContent, ItemContent


def pages(content: InstrumentContent, *, seed: str) -> tuple[tuple[ItemContent, ...], ...]:
    """The items page by page, as this response shows them.

    A page without items is none. Where order is random, items are shuffled within their page and
    an item that depends on another one of the page follows it directly.
    """
    numbers = sorted({item.page for item in content.items})
    listed = [[item for item in content.items if item.page == number] for number in numbers]
    if content.randomised:
        listed = [list(_shuffled(items, seed)) for items in listed]
    return tuple(tuple(items) for items in listed)


def _shuffled(items: list[ItemContent], seed: str) -> Iterable[ItemContent]:
    """By a hash of seed and code, which no release of Python draws differently."""
    here = {item.code for item in items}
    followers: dict[str, list[ItemContent]] = {}
    leaders = []
    for item in items:
        if item.condition is not None and item.condition.item in here:
            followers.setdefault(item.condition.item, []).append(item)
        else:
            leaders.append(item)
    leaders.sort(key=lambda item: hashlib.sha256(f"{seed}:{item.code}".encode()).digest())

    def family(item: ItemContent) -> Iterable[ItemContent]:
        yield item
        for follower in followers.get(item.code, ()):
            yield from family(follower)

    for leader in leaders:
        yield from family(leader)
