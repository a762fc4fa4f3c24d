"""Whether answers are such that the questionnaire can take them. Pure; nothing is trusted.

The browser checks the same things earlier and more kindly. Messages are in the active language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, TypeAlias

from django.utils.translation import gettext as _

from questionnaires import conditions
from questionnaires.content import InstrumentContent, ItemContent
from questionnaires.enums import ItemType
from questionnaires.points import points

#: An answer as it is stored: a number, a text, a date as ISO 8601, or a list of chosen values.
Raw: TypeAlias = Any
#: Characters of a free text.
TEXT_LIMIT = 5000
#: Beyond it floats aren't exact, and nothing that is asked for is as large.
LARGEST = 1e15
#: A number written with a step may be off by as much as decimal fractions are in binary.
TOLERANCE = 1e-6


class Unfit(Exception):
    """What is wrong with one answer, told to the participant."""


class InvalidAnswers(Exception):
    """Answers that can't be taken; ``errors`` say for each item what is wrong with it."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{code}: {text}" for code, text in errors.items()))
        self.errors = dict(errors)


def is_empty(raw: Raw) -> bool:
    """Whether this is no answer: nothing, nothing but blanks, or nothing chosen."""
    return raw is None or raw == [] or (isinstance(raw, str) and not raw.strip())


def shown(content: InstrumentContent, answers: Mapping[str, Raw]) -> tuple[ItemContent, ...]:
    """The items that these answers bring up, in the instrument's order.

    What was answered before its item was hidden counts for nothing, so a chain of conditions
    falls with its first link.
    """
    counted: dict[str, Raw] = {}
    visible = []
    for item in content.items:
        if item.condition is None or conditions.holds(item.condition, counted):
            visible.append(item)
            if _is_fit(item, answers.get(item.code)):
                counted[item.code] = answers[item.code]
    return tuple(visible)


def _is_fit(item: ItemContent, raw: Raw) -> bool:
    """Whether a condition can look at this answer: it is none, or refused, otherwise."""
    if is_empty(raw):
        return False
    try:
        CHECKS[item.type](item, raw)
    except Unfit:
        return False
    return True


def checked(
    content: InstrumentContent, answers: Mapping[str, Raw], *, codes: Iterable[str]
) -> dict[str, Raw]:
    """The answers to the shown ones among the items ``codes``, normalised.

    ``answers`` may hold those of earlier pages too, for conditions. An answer to an item that is
    hidden is left out: it was given before it was hidden. Raises InvalidAnswers for what is
    missing or malformed.
    """
    wanted, errors, good = set(codes), {}, {}
    for item in shown(content, answers):
        if item.code not in wanted:
            continue
        raw = answers.get(item.code)
        if is_empty(raw):
            if item.required:
                errors[item.code] = _("Please answer this question.")
            continue
        try:
            good[item.code] = CHECKS[item.type](item, raw)
        except Unfit as error:
            errors[item.code] = str(error)
    if errors:
        raise InvalidAnswers(errors)
    return good


def refuse_unknown(answers: Mapping[str, Raw], *, codes: Iterable[str]) -> None:
    """Raise InvalidAnswers if there are answers to other items than these."""
    foreign = sorted(set(answers) - set(codes))
    if foreign:
        raise InvalidAnswers(dict.fromkeys(foreign, _("This question is not on this page.")))


def _number(raw: Raw) -> float:
    is_number = isinstance(raw, int | float) and not isinstance(raw, bool)
    if not is_number or not abs(raw) <= LARGEST:  # neither is NaN
        raise Unfit(_("Please give a number."))
    return raw


def _chosen(item: ItemContent, raw: Raw) -> int:
    value = _number(raw)
    if value not in points(item):
        raise Unfit(_("Please choose one of the answers."))
    return int(value)


def _several(item: ItemContent, raw: Raw) -> list[int]:
    if not isinstance(raw, list):
        raise Unfit(_("Please choose among the answers."))
    values = [_chosen(item, each) for each in raw]
    if len(set(values)) < len(values):
        raise Unfit(_("Please choose each answer once at most."))
    return sorted(values)


def _measured(item: ItemContent, raw: Raw) -> float:
    value = _number(raw)
    if item.minimum is not None and value < item.minimum:
        raise Unfit(_("The least is %(bound)g.") % {"bound": item.minimum})
    if item.maximum is not None and value > item.maximum:
        raise Unfit(_("The most is %(bound)g.") % {"bound": item.maximum})
    if item.step:
        steps = (value - (item.minimum or 0)) / item.step
        if abs(steps - round(steps)) > TOLERANCE:
            raise Unfit(_("Please give it in steps of %(step)g.") % {"step": item.step})
    return value


def _text(item: ItemContent, raw: Raw) -> str:
    if not isinstance(raw, str):
        raise Unfit(_("Please write a text."))
    if len(raw) > TEXT_LIMIT:
        raise Unfit(
            _("This is too long: %(count)d characters of at most %(limit)d.")
            % {"count": len(raw), "limit": TEXT_LIMIT}
        )
    if "\x00" in raw or any("\ud800" <= character <= "\udfff" for character in raw):
        raise Unfit(_("There are characters in it that can't be stored."))
    return raw


def _date(item: ItemContent, raw: Raw) -> str:
    try:
        return date.fromisoformat(raw).isoformat()
    except (TypeError, ValueError):
        raise Unfit(_("Please give a date.")) from None


CHECKS: Mapping[str, Callable[[ItemContent, Raw], Raw]] = {
    ItemType.LIKERT: _chosen,
    ItemType.SINGLE: _chosen,
    ItemType.MULTIPLE: _several,
    ItemType.SLIDER: _measured,
    ItemType.DIFFERENTIAL: _chosen,
    ItemType.PICTURE: _chosen,
    ItemType.NUMBER: _measured,
    ItemType.TEXT: _text,
    ItemType.DATE: _date,
}
