"""What a statement tells about its speaker, as short lines with a memory's category.

A fact that has one value at a time (where one lives, which grade one is in) is always worded alike,
so that another value of it can be told from another fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memlab.core.llm.offline.extraction import Trait, traits_of
from memlab.core.llm.offline.words import topics_in

_CATEGORIES = {
    "basic_info": "event",
    "preferences": "preference",
    "constraints": "event",
    "goals": "event",
    "personality": "personality",
    "social": "event",
    "emotional_needs": "personality",
    "core_values": "personality",
    "significant_events": "event",
}
#: Dimensions that are learning where they are about study.
_PERHAPS_LEARNING = ("basic_info", "goals", "significant_events")

#: How a fact of each key is worded, so that a question about it meets it.
_WORDED = {
    "en": {
        "name": "name: {}",
        "age": "age: {}",
        "occupation": "occupation: {}",
        "workplace": "works at {}",
        "residence": "lives in {}",
        "hometown": "comes from {}",
        "grade": "grade at school: {}",
    },
    "zh-hans": {
        "name": "名字：{}",
        "age": "年龄：{}岁",
        "occupation": "职业：{}",
        "workplace": "在{}工作",
        "residence": "住在{}",
        "hometown": "老家在{}",
        "grade": "年级：{}",
    },
}
_EN_END = r"(?=[,.;!?]|\s(?:and|but|because|so|last|this|yesterday|recently|with|to)\b|$)"
#: What changes the value of such a fact, beside the extraction's own patterns.
_CHANGES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (key, re.compile(pattern, re.IGNORECASE))
    for key, pattern in (
        (
            "residence",
            r"\bi(?:'ve| have)? (?:just |recently )?moved (?:house )?to "
            rf"(?P<what>[^,.;!?]{{2,40}}?){_EN_END}",
        ),
        (
            "residence",
            r"我(?:们|家)?.{0,6}搬(?:家)?(?:到|去)了?(?P<what>[^，,。.！!？?\s了]{2,12})",
        ),
        ("grade", r"\bi(?:'m| am) (?:now )?in (?P<what>(?:the )?\w+ grade|year \w+)\b"),
        (
            "grade",
            r"我?(?:升|上|读|念)(?:到|上)?了?"
            r"(?P<what>[一二三四五六七八九初高大][一二三四]?年级|[初高][一二三]|大[一二三四])",
        ),
    )
)
_RESULT = re.compile(
    r"(?P<zh>(?:[^，,。.！!？?\s我]{0,6})考了\d{1,3}分)"
    r"|\bi (?P<en>(?:got|scored) [^,.;!?]{1,30}? (?:in|on) [^,.;!?]{2,30}? (?:test|exam))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One line about the speaker; ``label`` is empty where several may hold at once."""

    label: str
    text: str
    category: str


def facts_in(stated: str, *, language: str) -> list[Fact]:
    """What a statement tells, each thing once, in the order of the patterns."""
    found: dict[str, Fact] = {}
    for fact in (*_labelled_facts(stated, language), *_traits(stated, language)):
        found.setdefault(fact.text, fact)
    return list(found.values())


def labelled(text: str, *, language: str) -> str:
    """The key of the fact that a line words, or an empty string."""
    for key, worded in _WORDED[language].items():
        before, after = worded.split("{}")
        if text.startswith(before) and text.endswith(after) and len(text) > len(before + after):
            return key
    return ""


def _labelled_facts(stated: str, language: str) -> Iterator[Fact]:
    for key, pattern in _CHANGES:
        for match in pattern.finditer(stated):
            yield _fact(key, match["what"].strip().removesuffix("了"), language)
    for match in _RESULT.finditer(stated):
        yield Fact("", (match["zh"] or match["en"]).strip(), "learning")


def _traits(stated: str, language: str) -> Iterator[Fact]:
    moved = any(key == "residence" and pattern.search(stated) for key, pattern in _CHANGES)
    for trait in traits_of(stated):
        if trait.key is not None:
            yield _fact(trait.key, trait.text, language)
        elif not (moved and trait.dimension == "significant_events"):
            yield Fact("", trait.text, _category(trait))


def _fact(key: str, value: str, language: str) -> Fact:
    category = "learning" if key == "grade" or "study" in topics_in(value) else "event"
    return Fact(key, _WORDED[language][key].format(value), category)


def _category(trait: Trait) -> str:
    if trait.dimension in _PERHAPS_LEARNING and "study" in topics_in(trait.text):
        return "learning"
    return _CATEGORIES[trait.dimension]
