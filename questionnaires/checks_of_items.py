"""What keeps one item from being asked: what its type needs and doesn't take. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from questionnaires.conditions import DATE, IN, ORDERINGS
from questionnaires.content import InstrumentContent, ItemContent
from questionnaires.enums import CHOICES, NUMERIC, PICTURES, SCALES, ItemType
from questionnaires.problems import IDENTIFIER, Problem

MAXIMUM_POINTS = 11
MAXIMUM_OPTIONS = 60
MAXIMUM_STEPS = 1000
_ENDS = frozenset({ItemType.LIKERT, ItemType.SLIDER, ItemType.DIFFERENTIAL, ItemType.PICTURE})
_POINTS = frozenset({ItemType.LIKERT, ItemType.DIFFERENTIAL})
_BOUNDED = SCALES | {ItemType.NUMBER}

#: Says a problem of the item at hand: field, what is wrong, remedy.
Say = Callable[[str, str, str], Problem]


def problems_of_item(content: InstrumentContent, index: int) -> list[Problem]:
    """All problems of the item at ``index``."""

    def say(field: str, wrong: str, remedy: str) -> Problem:
        return Problem(item=index, field=field, wrong=wrong, remedy=remedy)

    item = content.items[index]
    return [
        *_identity(content, index, say),
        *_numbers(item, say),
        *_options(item, say),
        *_ends(item, say),
        *_scoring(item, say),
        *_expected(item, say),
        *_condition(content, index, say),
    ]


def _identity(content: InstrumentContent, index: int, say: Say) -> Iterator[Problem]:
    item = content.items[index]
    if not IDENTIFIER.fullmatch(item.code):
        yield say(
            "code",
            _("“%(code)s” is no code.") % {"code": item.code},
            _("Use a letter, then letters, digits and _, at most 40, such as trust_1."),
        )
    codes = [other.code.lower() for other in content.items[:index]]
    if item.code and item.code.lower() in codes:
        yield say(
            "code",
            _("“%(code)s” is the code of another item too.") % {"code": item.code},
            _("Codes are unique within an instrument; capitals make no difference."),
        )
    before = content.items[index - 1].page if index else 0
    if item.page < 1 or not before <= item.page <= before + 1:
        yield say(
            "page",
            _("Page %(page)s can't follow page %(before)s.")
            % {"page": item.page, "before": before},
            _("Pages are numbered from 1 in the order of the items, without gaps."),
        )


def _numbers(item: ItemContent, say: Say) -> Iterator[Problem]:
    low, high, step = item.minimum, item.maximum, item.step
    for field, number in (("minimum", low), ("maximum", high), ("step", step)):
        if number is not None and not math.isfinite(number):
            yield say(field, _("That is no finite number."), _("Write one such as 7."))
            return
    if item.type not in _BOUNDED:
        for field, number in (("minimum", low), ("maximum", high)):
            if number is not None:
                yield say(field, _refused(item), _("Leave the cell empty."))
    if step is not None and item.type not in (ItemType.SLIDER, ItemType.NUMBER):
        yield say("step", _refused(item), _("Only sliders and numbers have a step."))
    if low is not None and high is not None and low >= high:
        yield say(
            "maximum",
            _("The maximum %(high)s isn't above the minimum %(low)s.")
            % {"high": f"{high:g}", "low": f"{low:g}"},
            _("Swap or correct them."),
        )
        return
    if item.type in _POINTS:
        yield from _points(item, say)
    elif item.type is ItemType.SLIDER:
        yield from _slider(item, say)
    elif item.type is ItemType.PICTURE and (low, high) != PICTURES:
        yield say(
            "maximum",
            _("The picture scale has seven pictures."),
            _("Its minimum is 1 and its maximum 7; both may be left out of a sheet."),
        )
    elif step is not None and step <= 0:
        yield say("step", _("The step isn't above 0."), _("Write one such as 1 or 0.1."))


def _points(item: ItemContent, say: Say) -> Iterator[Problem]:
    low, high = item.minimum, item.maximum
    if low is None or high is None:
        if not item.options:
            yield say(
                "minimum" if low is None else "maximum",
                _("The scale has no ends."),
                _("Give minimum and maximum, such as 1 and 7, or name the points as options."),
            )
        elif (low, high) != (None, None):
            yield _ends_differ(item, say)
        return
    if not low.is_integer() or not high.is_integer():
        yield say("minimum", _("The points aren't whole numbers."), _("Use such as 1 and 7."))
    elif high - low >= MAXIMUM_POINTS:
        yield say(
            "maximum",
            _("%(count)s points are too many for a phone.") % {"count": int(high - low) + 1},
            _("Use at most %(limit)s, or a slider.") % {"limit": MAXIMUM_POINTS},
        )
    if item.options and (low, high) != item.bounds:
        yield _ends_differ(item, say)


def _ends_differ(item: ItemContent, say: Say) -> Problem:
    return say(
        "minimum",
        _("Minimum and maximum differ from the least and the greatest option."),
        _("Leave both empty where there are options."),
    )


def _slider(item: ItemContent, say: Say) -> Iterator[Problem]:
    low, high = item.minimum, item.maximum
    if low is None or high is None:
        yield say(
            "minimum" if low is None else "maximum",
            _("The slider has no ends."),
            _("Give minimum and maximum, such as 0 and 100."),
        )
        return
    step = 1.0 if item.step is None else item.step
    steps = (high - low) / step if step > 0 else 0.0
    if step <= 0 or abs(steps - round(steps)) > 1e-6:
        yield say(
            "step",
            _("Steps of %(step)s don't lead from %(low)s to %(high)s.")
            % {"step": f"{step:g}", "low": f"{low:g}", "high": f"{high:g}"},
            _("Choose a step above 0 that divides the range."),
        )
    elif steps > MAXIMUM_STEPS:
        yield say(
            "step",
            _("%(count)s steps are too many to hit one.") % {"count": round(steps)},
            _("Choose a larger step: at most %(limit)s.") % {"limit": MAXIMUM_STEPS},
        )


def _options(item: ItemContent, say: Say) -> Iterator[Problem]:
    values = [option.value for option in item.options]
    if item.type not in CHOICES:
        if values:
            yield say("options_en", _refused(item), _("Leave the cell empty."))
        return
    if (item.type is not ItemType.LIKERT and not values) or len(values) == 1:
        yield say(
            "options_en",
            _("There is nothing to choose from."),
            _("Give two options at least, such as 1=yes | 2=no."),
        )
    if len(values) > MAXIMUM_OPTIONS:
        yield say(
            "options_en",
            _("%(count)s options are too many.") % {"count": len(values)},
            _("Use at most %(limit)s.") % {"limit": MAXIMUM_OPTIONS},
        )
    if len(set(values)) < len(values):
        yield say(
            "options_en",
            _("Two options have the same number."),
            _("Number each option differently: the number is what is stored."),
        )
    if item.type is ItemType.LIKERT and values != sorted(values):
        yield say(
            "options_en",
            _("The points of a scale must rise."),
            _("Order them by their numbers."),
        )


def _ends(item: ItemContent, say: Say) -> Iterator[Problem]:
    for field, text in (("low", item.low), ("high", item.high)):
        there = text.en.strip() or text.zh.strip()
        if there and item.type not in _ENDS:
            language = "en" if text.en.strip() else "zh"
            yield say(f"{field}_{language}", _refused(item), _("Leave the cell empty."))
        elif not there and item.type is ItemType.DIFFERENTIAL:
            yield say(
                f"{field}_en",
                _("A semantic differential lies between two words."),
                _("Name both ends, such as cold and warm."),
            )


def _scoring(item: ItemContent, say: Say) -> Iterator[Problem]:
    if item.reverse and item.type not in SCALES:
        yield say(
            "reverse",
            _refused(item),
            _("Only an item with a scale can be reversed: write no, or leave it empty."),
        )
    if item.subscale and item.type not in NUMERIC:
        yield say(
            "subscale", _refused(item), _("A subscale holds numbers only: leave the cell empty.")
        )
    elif item.subscale and not IDENTIFIER.fullmatch(item.subscale):
        yield say(
            "subscale",
            _("“%(name)s” is no name of a subscale.") % {"name": item.subscale},
            _("Use a letter, then letters, digits and _, at most 40, such as cognitive."),
        )


def _expected(item: ItemContent, say: Say) -> Iterator[Problem]:
    if item.expected is None:
        return
    if item.type not in NUMERIC:
        yield say(
            "expected",
            _refused(item),
            _("An attention check is answered by a number, e.g. on a scale."),
        )
    elif not _answerable(item, item.expected):
        yield say(
            "expected",
            _("Nobody can answer %(value)s.") % {"value": f"{item.expected:g}"},
            _("Choose one of the points or options of this item."),
        )
    if item.subscale or item.reverse:
        yield say(
            "subscale" if item.subscale else "reverse",
            _("An attention check is in no score."),
            _("Leave subscale and reverse empty."),
        )


def _condition(content: InstrumentContent, index: int, say: Say) -> Iterator[Problem]:
    """The item it asks about stands earlier, so no two can wait for each other."""
    condition = content.items[index].condition
    if condition is None:
        return
    complain = partial(say, "condition")
    codes = [item.code for item in content.items]
    if condition.item not in codes:
        yield complain(
            _("There is no item %(code)s.") % {"code": condition.item},
            _("Name an earlier item of this instrument by its code."),
        )
    elif codes.index(condition.item) >= index:
        yield complain(
            _("The item %(code)s doesn't come before this one.") % {"code": condition.item},
            _("A condition asks about an earlier item: move one of the two."),
        )
    else:
        yield from _fits(content.item(condition.item), condition.operator, condition.value, say)


def _fits(asked: ItemContent, operator: str, value: Any, say: Say) -> Iterator[Problem]:
    if asked.type in (ItemType.MULTIPLE, ItemType.TEXT) and operator in ORDERINGS:
        yield say(
            "condition",
            _("The answers to %(code)s have no order.") % {"code": asked.code},
            _("Use ==, != or in."),
        )
        return
    for each in value if operator == IN else [value]:
        if not _comparable(asked, each, ordering=operator in ORDERINGS):
            yield say(
                "condition",
                _("Nobody can answer %(value)s to %(code)s.") % {"value": each, "code": asked.code},
                _(
                    "Compare with one of its points or options, with a date (YYYY-MM-DD) or with "
                    "a text, as the item's type asks."
                ),
            )


def _comparable(asked: ItemContent, value: Any, *, ordering: bool) -> bool:
    if asked.type is ItemType.TEXT:
        return isinstance(value, str)
    if asked.type is ItemType.DATE:
        return isinstance(value, str) and DATE.fullmatch(value) is not None
    if isinstance(value, str):
        return False
    if ordering:
        return _within(asked, value)
    return _answerable(asked, value)


def _within(item: ItemContent, value: float) -> bool:
    low, high = item.bounds or (item.minimum, item.maximum)
    return (low is None or value >= low) and (high is None or value <= high)


def _answerable(item: ItemContent, value: float) -> bool:
    """Whether somebody could answer just this number."""
    if item.options:
        return value in [option.value for option in item.options]
    if not _within(item, value):
        return False
    if item.type in (ItemType.LIKERT, ItemType.DIFFERENTIAL, ItemType.PICTURE):
        return float(value).is_integer()
    if item.type is ItemType.SLIDER and item.minimum is not None:
        steps = (value - item.minimum) / (item.step or 1.0)
        return abs(steps - round(steps)) < 1e-6
    return True


def _refused(item: ItemContent) -> str:
    return _("The type “%(type)s” doesn't take this.") % {"type": item.type}
