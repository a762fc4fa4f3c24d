"""The points of a scale: which values an item offers, and what each is called."""

from __future__ import annotations

from questionnaires.content import ItemContent
from questionnaires.enums import PICTURES, ItemType

_POINTS = (ItemType.LIKERT, ItemType.DIFFERENTIAL, ItemType.PICTURE)


def points(item: ItemContent) -> tuple[int, ...]:
    """What can be chosen: the options' values in their order, or every whole number of the scale.

    Empty for items that aren't chosen from a few values.
    """
    if item.options:
        return tuple(option.value for option in item.options)
    if item.type not in _POINTS:
        return ()
    low, high = item.bounds or PICTURES
    return tuple(range(int(low), int(high) + 1))


def label(item: ItemContent, point: int, language: str) -> str:
    """The point's own name, or that of the end it stands at; empty for a bare number."""
    for option in item.options:
        if option.value == point and option.label.told(language):
            return option.label.told(language)
    offered = points(item)
    if point == offered[0]:
        return item.low.told(language)
    return item.high.told(language) if point == offered[-1] else ""
