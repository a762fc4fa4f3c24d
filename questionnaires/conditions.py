"""Conditions of items: ``mood_1 >= 4``, ``pet in 1, 3``, ``name != "nobody"``. Pure.

A condition names one other item, an operator and a value. Numbers are written as they are, texts
in quotes or, where they are one word, without; a date as YYYY-MM-DD.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from questionnaires.content import Condition

Value = int | float | str

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ORDERINGS = frozenset({"<", "<=", ">", ">="})
IN = "in"
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_SHAPE = re.compile(
    r"\s*(?P<item>[A-Za-z][\w-]*)\s*(?P<operator><=|>=|==|!=|=|<|>|\bin\b)(?P<value>.*)", re.DOTALL
)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_WORD = re.compile(r"[^\s\"',;&|()<>=!]+")


def parse(text: str) -> Condition:
    """Read a condition. Raises ValidationError that says what is wrong and what to write."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise ValidationError(
            _(
                "“%(text)s” is no condition. Write the code of an earlier item, one of "
                "==, !=, <, <=, >, >=, in, and a value: mood_1 >= 4 or pet in 1, 3."
            )
            % {"text": text}
        )
    if found["operator"] == "=":
        raise ValidationError(_("“%(text)s” has a single =. Write == to compare.") % {"text": text})
    if found["operator"] == IN:
        value: Any = [_value(each, text) for each in found["value"].split(",")]
    else:
        value = _value(found["value"], text)
        if found["operator"] in ORDERINGS and not _ordered(value):
            raise ValidationError(
                _(
                    "“%(text)s” compares the size of a text. Use < and > with a number or a date "
                    "(YYYY-MM-DD); for a text use == or in."
                )
                % {"text": text}
            )
    return Condition(item=found["item"], operator=found["operator"], value=value)


def told(condition: Condition) -> str:
    """The condition as ``parse`` reads it."""
    values = condition.value if isinstance(condition.value, list | tuple) else [condition.value]
    return f"{condition.item} {condition.operator} {', '.join(_told(each) for each in values)}"


def holds(condition: Condition | None, answers: Mapping[str, Any]) -> bool:
    """Whether the item is to be shown, given the answers so far by the items' codes.

    An answer is a number, a text, an ISO 8601 date, or for ``multiple`` the list of what was
    chosen: then ``==`` and ``in`` ask whether (any of) the value is among it, ``!=`` whether it
    isn't. An item that has no answer (None, absent, an empty text or list) fulfils no condition.
    """
    if condition is None:
        return True
    given = answers.get(condition.item)
    if given is None or given in ("", []):
        return False
    if condition.operator == IN:
        return any(_compared("==", given, each) for each in condition.value)
    return _compared(condition.operator, given, condition.value)


def _compared(name: str, given: Any, value: Any) -> bool:
    if isinstance(given, list | tuple):
        among = any(_compared("==", each, value) for each in given)
        return among if name == "==" else name == "!=" and not among
    if isinstance(given, str) is not isinstance(value, str):
        return name == "!="
    return COMPARISONS[name](given, value)


def _value(text: str, whole: str) -> Value:
    text = text.strip()
    if _NUMBER.fullmatch(text):
        number = float(text)
        if math.isfinite(number):
            return int(number) if number.is_integer() else number
    elif (quoted := _QUOTED.fullmatch(text)) is not None:
        return quoted[1] or quoted[2] or ""
    elif _WORD.fullmatch(text):
        return text
    raise ValidationError(
        _(
            "In “%(whole)s” the value “%(text)s” can't be read. Write one number, one date "
            "(YYYY-MM-DD) or one text in quotes; after in, several with commas between them. "
            "There is one comparison to a condition."
        )
        % {"whole": whole, "text": text}
    )


def _ordered(value: Value) -> bool:
    return not isinstance(value, str) or DATE.fullmatch(value) is not None


def _told(value: Value) -> str:
    if not isinstance(value, str):
        return f"{value:g}" if float(value).is_integer() else repr(value)
    if _WORD.fullmatch(value) and not _NUMBER.fullmatch(value):
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'
