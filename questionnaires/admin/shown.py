"""An instrument as its participants read it, both languages side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from questionnaires import conditions
from questionnaires.checks import LANGUAGES, languages_of
from questionnaires.content import InstrumentContent, ItemContent, Text
from questionnaires.enums import SCALES, ItemType

NAMES = {"en": "English", "zh": "简体中文"}
#: The lines of a scale are drawn up to so many points.
DRAWN = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One item in one language: ``points`` are drawn between ``low`` and ``high``, or a line where
    it ``slides``; ``choices`` are listed."""

    language: str
    text: str
    low: str = ""
    high: str = ""
    points: tuple[str, ...] = ()
    choices: tuple[tuple[int, str], ...] = ()
    blank: str = ""
    slides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """``change`` is how a preview marks it: added or changed, else empty."""

    item: ItemContent
    number: int
    new_page: bool
    facts: tuple[str, ...]
    wordings: tuple[Wording, ...]
    change: str = ""


def shown_content(content: InstrumentContent, changes: dict[str, str] | None = None) -> SafeString:
    """The instrument as a page of the back office shows it."""
    languages = languages_of(content) or LANGUAGES
    page = 0
    items = []
    for number, item in enumerate(content.items, start=1):
        items.append(
            ShownItem(
                item=item,
                number=number,
                new_page=item.page != page,
                facts=tuple(facts_of(item)),
                wordings=tuple(_wording(item, language) for language in languages),
                change=(changes or {}).get(item.code, ""),
            )
        )
        page = item.page
    return render_to_string("back_office/instrument_content.html", _context(content, items))


def _context(content: InstrumentContent, items: list[ShownItem]) -> dict[str, Any]:
    languages = languages_of(content) or LANGUAGES
    return {
        "content": content,
        "items": items,
        "columns": len(languages) + 2,
        "heads": [
            (
                language,
                NAMES[language],
                getattr(content.title, language),
                getattr(content.introduction, language),
            )
            for language in languages
        ],
    }


def facts_of(item: ItemContent) -> list[str]:
    """What scoring and showing do with the item, in a few words each."""
    found = [str(item.type.label)]
    if item.subscale:
        found.append(_("subscale %(name)s") % {"name": item.subscale})
    if item.reverse:
        found.append(_("reversed"))
    if item.expected is not None:
        found.append(_("attention check: %(value)s") % {"value": f"{item.expected:g}"})
    if not item.required:
        found.append(_("may be skipped"))
    if item.condition is not None:
        found.append(_("if %(condition)s") % {"condition": conditions.told(item.condition)})
    return found


def _wording(item: ItemContent, language: str) -> Wording:
    def told(text: Text) -> str:
        return str(getattr(text, language))

    labels = tuple((option.value, told(option.label)) for option in item.options)
    listed = item.type not in SCALES or len(labels) > DRAWN
    points: tuple[str, ...] = ()
    if item.type in SCALES and item.type is not ItemType.SLIDER and item.bounds is not None:
        low, high = item.bounds
        points = tuple(label or str(value) for value, label in labels) or tuple(
            str(number) for number in range(int(low), min(int(high), int(low) + DRAWN) + 1)
        )
    ends = ("", "") if item.bounds is None else tuple(f"{each:g}" for each in item.bounds)
    slider = item.type is ItemType.SLIDER
    return Wording(
        language=language,
        text=told(item.text),
        low=told(item.low) or (ends[0] if slider else ""),
        high=told(item.high) or (ends[1] if slider else ""),
        points=() if listed else points,
        choices=labels if listed else (),
        slides=slider,
        blank=str(item.type.label)
        if item.type in (ItemType.TEXT, ItemType.NUMBER, ItemType.DATE)
        else "",
    )
