"""Rules by which somebody is screened out after the screening questionnaires. Pure.

A rule is declared on the study, e.g. ``{"source": "screening:age_group", "operator": "in", "value":
[1, 5]}``: whoever answered so can't take part. A missing answer fulfils no rule.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _now

from experiments.enums import Moment
from experiments.facts import Source

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = ("==", "!=", *_ORDER, "in")


@dataclass(frozen=True, slots=True)
class ScreenOutRule:
    """Who fulfils it can't take part."""

    source: Source
    operator: str
    value: Any

    @classmethod
    def from_json(cls, declared: Any) -> Self:
        """Raises ValidationError with what is wrong and how it is to be put."""
        if not isinstance(declared, Mapping) or set(declared) != {"source", "operator", "value"}:
            raise ValidationError(
                _now("A rule has a source, an operator and a value: %(rule)s") % {"rule": declared}
            )
        source = Source.parse(str(declared["source"]))
        if source.moment is not Moment.SCREENING:
            raise ValidationError(
                _now("%(source)s: only answers of the screening screen somebody out.")
                % {"source": declared["source"]}
            )
        _check(str(declared["operator"]), declared["value"])
        return cls(source, str(declared["operator"]), declared["value"])

    def holds(self, answer: Any) -> bool:
        """Whether this answer screens out; of several chosen answers one is enough."""
        if answer is None:
            return False
        if isinstance(answer, list):
            if self.operator == "!=":
                return self.value not in answer
            return any(self.holds(each) for each in answer)
        if self.operator == "in":
            return answer in self.value
        if self.operator in _ORDER:
            return _is_number(answer) and _ORDER[self.operator](answer, self.value)
        return (answer == self.value) is (self.operator == "==")


def screen_out_rules(declared: Iterable[Any]) -> tuple[ScreenOutRule, ...]:
    """A study's rules. Raises ValidationError."""
    return tuple(ScreenOutRule.from_json(each) for each in declared)


def _check(name: str, value: Any) -> None:
    if name not in OPERATORS:
        raise ValidationError(
            _now("%(name)s is no operator: use one of %(known)s.")
            % {"name": name, "known": ", ".join(OPERATORS)}
        )
    if name == "in" and not (isinstance(value, list) and value):
        raise ValidationError(_now("The operator in needs a list of answers, e.g. [1, 5]."))
    if name in _ORDER and not _is_number(value):
        raise ValidationError(_now("%(name)s compares with a number.") % {"name": name})
    if name in ("==", "!=") and (value is None or isinstance(value, list | dict)):
        raise ValidationError(_now("%(name)s compares with one answer.") % {"name": name})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
