"""Scoring of one questionnaire: numbers in, numbers out. Pure.

A subscale holds the items that name it. Where no item names any, all items with a scale (Likert,
slider, differential, picture) make one, whose name is empty. Attention checks are in no score.

Reversing is reflection on the item's own scale, ``minimum + maximum − value``, by which the mean of
k reversed items is the reversed mean (Spector 1992, *Summated Rating Scale Construction*, ch. 3).

What is missing (skipped, not shown, timed out: all alike) is dealt with by the rule that the
instrument declares:

- ``NONE``: no score if any item of the subscale is missing.
- ``SHARE``: the mean of the items that were answered (the person mean: Downey & King 1998,
  *Journal of General Psychology* 125, 175–191), if these are at least ``missing_share`` of the
  subscale; 0.5 is the usual half-scale rule.
  A sum is that mean times the number of items, so that both scores agree on whom they order where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from questionnaires.content import InstrumentContent, ItemContent
from questionnaires.enums import NUMERIC, SCALES, MissingRule, ScoreKind

#: Tolerance for the share and for expected answers, against the floats' own rounding.
TINY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscaleScore:
    """A subscale's score; ``value`` is None where too much is missing."""

    subscale: str
    value: float | None
    answered: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """``scored`` are the answers after reversing, by the items' codes, None where there is none."""

    scored: Mapping[str, float | None]
    scores: tuple[SubscaleScore, ...]
    attention_checks: int
    attention_failures: int


def scored(content: InstrumentContent, answers: Mapping[str, float | None]) -> Scoring:
    """Score a questionnaire from the numbers that were answered, by the items' codes.

    Items without a number (texts, dates, several choices) needn't be in ``answers``. Raises
    ValueError if an answer lies outside its item's scale: such a number never was an answer.
    """
    numbers = {item.code: _checked(item, answers.get(item.code)) for item in content.items}
    turned = {item.code: reversed_value(item, numbers[item.code]) for item in content.items}
    checks = [item for item in content.items if item.is_check]
    return Scoring(
        scored=turned,
        scores=tuple(
            _score(content, subscale, [turned[item.code] for item in items])
            for subscale, items in subscales(content).items()
        ),
        attention_checks=len(checks),
        attention_failures=sum(_fails(item, numbers[item.code]) for item in checks),
    )


def subscales(content: InstrumentContent) -> dict[str, tuple[ItemContent, ...]]:
    """The items of each subscale, in the order in which the subscales first come up."""
    scorable = [item for item in content.items if item.type in NUMERIC and not item.is_check]
    names = list(dict.fromkeys(item.subscale for item in scorable if item.subscale))
    if names:
        return {name: tuple(item for item in scorable if item.subscale == name) for name in names}
    whole = tuple(item for item in scorable if item.type in SCALES)
    return {"": whole} if whole else {}


def reversed_value(item: ItemContent, value: float | None) -> float | None:
    """``minimum + maximum − value`` for an item that is reversed, else the value itself."""
    if value is None or not item.reverse or item.bounds is None:
        return value
    low, high = item.bounds
    return low + high - value


def _checked(item: ItemContent, value: float | None) -> float | None:
    if value is not None and item.bounds is not None:
        low, high = item.bounds
        if not low - TINY <= value <= high + TINY:
            raise ValueError(f"{item.code}: {value} lies outside {low:g} to {high:g}")
    return value


def _score(content: InstrumentContent, subscale: str, values: list[float | None]) -> SubscaleScore:
    there = [value for value in values if value is not None]
    share = content.missing_share if content.missing == MissingRule.SHARE else 1.0
    value = None
    if there and len(there) >= share * len(values) - TINY:
        value = sum(there) / len(there)
        if content.score == ScoreKind.SUM:  # of a whole one exactly, without a division's rounding
            value = sum(there) if len(there) == len(values) else value * len(values)
    return SubscaleScore(subscale=subscale, value=value, answered=len(there), items=len(values))


def _fails(item: ItemContent, value: float | None) -> bool:
    """Whether an attention check was answered otherwise than asked. One without an answer, for
    instance because its page was never shown, is neither passed nor failed."""
    return value is not None and item.expected is not None and abs(value - item.expected) > TINY
