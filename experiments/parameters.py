"""Parameters are independent variables: declared once, bounded, explained, with their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

Value = bool | int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One number, switch or choice of an architecture.

    ``minimum`` and ``maximum`` are inclusive; ``choices`` belongs to strings. ``help_en`` and
    ``help_zh`` explain it to a researcher; ``source`` says where the default comes from.
    """

    name: str
    default: Value
    help_en: str
    help_zh: str
    source: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def help(self, language: str) -> str:
        return self.help_zh if language.startswith("zh") else self.help_en

    def checked(self, value: Any) -> Value:
        """The value in its declared type, or ValidationError with the remedy."""
        kind = type(self.default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            raise ValidationError(
                _("%(name)s must be a %(kind)s, not %(value)r.")
                % {"name": self.name, "kind": kind.__name__, "value": value}
            )
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._check_bounds(float(value))
        if self.choices and value not in self.choices:
            raise ValidationError(
                _("%(name)s must be one of %(choices)s, not %(value)r.")
                % {"name": self.name, "choices": ", ".join(self.choices), "value": value}
            )
        return value  # type: ignore[no-any-return]

    def _check_bounds(self, value: float) -> None:
        below = self.minimum is not None and value < self.minimum
        above = self.maximum is not None and value > self.maximum
        if value != value or below or above:
            raise ValidationError(
                _("%(name)s must lie in %(low)s … %(high)s%(unit)s, not %(value)s.")
                % {
                    "name": self.name,
                    "low": self.minimum if self.minimum is not None else "−∞",
                    "high": self.maximum if self.maximum is not None else "∞",
                    "unit": f" {self.unit}" if self.unit else "",
                    "value": value,
                }
            )


def validated(declared: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Value]:
    """Every declared parameter with its checked value or default.

    Raises ValidationError naming each unknown name and each bad value at once.
    """
    by_name = {parameter.name: parameter for parameter in declared}
    errors = [
        _("%(name)s is no parameter of this architecture. It has: %(known)s.")
        % {"name": name, "known": ", ".join(by_name) or "–"}
        for name in given
        if name not in by_name
    ]
    values: dict[str, Value] = {}
    for parameter in declared:
        try:
            values[parameter.name] = parameter.checked(given.get(parameter.name, parameter.default))
        except ValidationError as error:
            errors.extend(error.messages)
    if errors:
        raise ValidationError(errors)
    return values
