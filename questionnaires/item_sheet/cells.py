"""Single cells of an item sheet: numbers, yes and no, options, conditions."""

from __future__ import annotations

import math
import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from questionnaires import conditions
from questionnaires.content import Condition, Option, Text
from questionnaires.enums import ItemType
from questionnaires.item_sheet.columns import NO, SETTING, YES
from questionnaires.item_sheet.table import plain

_OPTION = re.compile(r"\s*(?P<value>[+-]?\d{1,6})\s*[=＝](?P<label>.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_PAGE = re.compile(r"\d{1,3}")


class Unreadable(Exception):
    """A cell that can't be read: what is wrong and what to do."""

    def __init__(self, wrong: str, remedy: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.remedy = remedy


def item_type(text: str) -> ItemType:
    if text.lower() in ItemType.values:
        return ItemType(text.lower())
    raise Unreadable(
        _("“%(text)s” is no type of item.") % {"text": text[:40]}
        if text
        else _("The type is missing."),
        _("Use one of %(types)s.") % {"types": ", ".join([*ItemType.values, SETTING])},
    )


def number(text: str) -> float | None:
    """None for an empty cell."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Unreadable(
            _("“%(text)s” is no number.") % {"text": text[:40]},
            _("Write it in digits with a point, such as 7 or 0.5, without a unit."),
        )
    return float(text)


def page(text: str, before: int) -> int:
    """The page of the item before for an empty cell."""
    if not text:
        return before
    if not _PAGE.fullmatch(text) or int(text) == 0:
        raise Unreadable(
            _("“%(text)s” is no page.") % {"text": text[:40]},
            _("Write a whole number from 1, or leave the cell empty."),
        )
    return int(text)


def yes(text: str, *, empty: bool = False) -> bool:
    lowered = text.lower()
    if not lowered:
        return empty
    if lowered in YES or lowered in NO:
        return lowered in YES
    raise Unreadable(
        _("“%(text)s” is neither yes nor no.") % {"text": text[:40]},
        _("Write yes or no, or leave the cell empty."),
    )


def condition(text: str) -> Condition | None:
    if not text:
        return None
    try:
        return conditions.parse(text)
    except ValidationError as error:
        raise Unreadable(error.messages[0], _("Or leave the cell empty.")) from None


def labels(cell: str) -> dict[int, str]:
    """``1=never | 2=often`` to numbers and labels; one a line if the cell has several lines."""
    text = cell.replace("\r\n", "\n")
    parts = text.split("\n") if "\n" in text else text.split("|")
    found: dict[int, str] = {}
    for part in (part for part in parts if plain(part)):
        option = _OPTION.fullmatch(part)
        if option is None:
            raise Unreadable(
                _("“%(part)s” is no option.") % {"part": plain(part)[:40]},
                _("Write number=label, with | between options: 1=never | 2=often."),
            )
        value = int(option["value"])
        if value in found:
            raise Unreadable(
                _("The number %(value)s stands for two options.") % {"value": value},
                _("Number each option differently: the number is what is stored."),
            )
        found[value] = plain(option["label"])
    return found


def options(english: dict[int, str], chinese: dict[int, str]) -> tuple[Option, ...]:
    """Both languages' labels as one list, in the order of the first that has any."""
    if english and chinese and set(english) != set(chinese):
        alone = sorted(set(english) ^ set(chinese))
        raise Unreadable(
            _("The languages have different options: %(values)s is in one only.")
            % {"values": ", ".join(map(str, alone[:5]))},
            _("Give both the same numbers, or leave one language empty."),
        )
    return tuple(
        Option(value=value, label=Text(en=english.get(value, ""), zh=chinese.get(value, "")))
        for value in (english or chinese)
    )


def told_options(options: tuple[Option, ...], language: str) -> str:
    """As ``labels`` reads it: on one line, or one a line where a label has | in it."""
    named = [(each.value, getattr(each.label, language)) for each in options]
    if not any(label for _value, label in named):
        return ""
    parts = [f"{value}={label}" for value, label in named]
    if any("|" in part for part in parts):
        return "\n".join(parts) + "\n"
    return " | ".join(parts)
