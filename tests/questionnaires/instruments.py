"""Instruments for tests, small enough to reckon with by hand."""

from __future__ import annotations

from typing import Any

from questionnaires.content import InstrumentContent, ItemContent, Option, Text
from questionnaires.enums import ItemType

AGREE = {"minimum": 1.0, "maximum": 7.0}


def item(code: str, type_: ItemType = ItemType.LIKERT, **fields: Any) -> ItemContent:
    """An item in English; a Likert one from 1 to 7 unless said otherwise."""
    scale = AGREE if type_ is ItemType.LIKERT and "options" not in fields else {}
    return ItemContent(
        **{"code": code, "type": type_, "text": Text(en=f"About {code}"), **scale, **fields}
    )


def choice(*values: int) -> tuple[Option, ...]:
    """Options that are called by their numbers."""
    return tuple(Option(value=value, label=Text(en=f"No. {value}")) for value in values)


def instrument(*items: ItemContent, **fields: Any) -> InstrumentContent:
    return InstrumentContent(
        **{"key": "closeness", "title": Text(en="Closeness"), "items": items, **fields}
    )


CLOSENESS = instrument(
    item("close_1", subscale="warm"),
    item("close_2", subscale="warm", reverse=True),
    item("check", expected=4.0),
    item("pet", ItemType.SINGLE, options=choice(1, 2, 3)),
    item("pet_name", ItemType.TEXT, required=False),
)
