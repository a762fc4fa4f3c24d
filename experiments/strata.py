"""Strata: the factors by which allocation is balanced, and a participant's level of each. Pure.

A factor is declared on the study, e.g. ``{"name": "age", "source": "screening:age_group", "levels":
{"young": [1, 2], "old": [3]}}`` or, with cut points, ``{"name": "trust", "source":
"baseline:score:trust", "cuts": [3.5, 5]}``. With neither, each answer is a level of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _now

from experiments.facts import Source

MOST_FACTORS = 4
#: The level of whoever has no answer or score, or one that belongs to no level.
UNKNOWN = "unknown"
#: The stratum of a study without factors.
ALL = "all"
#: Of a level's name, so that four factors fit an allocation's column.
LONGEST = 14
_NAME = re.compile(r"[a-z][a-z0-9_]{0,11}")
_KEYS = {"name", "source", "levels", "cuts"}


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor. ``cuts`` are rising; a value equal to a cut belongs above it."""

    name: str
    source: Source
    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    cuts: tuple[float, ...] = ()

    @classmethod
    def from_json(cls, declared: Any) -> Self:
        """Raises ValidationError with what is wrong and how it is to be put."""
        if not isinstance(declared, Mapping) or not {"name", "source"} <= set(declared) <= _KEYS:
            raise ValidationError(
                _now("A factor has a name, a source and, if need be, levels or cuts: %(factor)s")
                % {"factor": declared}
            )
        name = declared["name"]
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValidationError(
                _now("%(name)s is no name: at most 12 small letters, digits and _.")
                % {"name": name}
            )
        if "levels" in declared and "cuts" in declared:
            raise ValidationError(
                _now("%(name)s has levels and cuts: one of them.") % {"name": name}
            )
        return cls(
            name,
            Source.parse(str(declared["source"])),
            _levels(name, declared.get("levels", {})),
            _cuts(name, declared.get("cuts", [])),
        )

    def level(self, value: Any) -> str:
        """The level of a value; ``unknown`` of None and of what belongs nowhere."""
        if value is None or isinstance(value, list | dict):
            return UNKNOWN
        if self.levels:
            return next((key for key, values in self.levels.items() if value in values), UNKNOWN)
        if not self.cuts:
            return _told(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return UNKNOWN
        return self._between(value)

    def _between(self, value: float) -> str:
        below = [cut for cut in self.cuts if cut <= value]
        above = [cut for cut in self.cuts if cut > value]
        if not below:
            return f"<{_told(above[0])}"
        if not above:
            return f">={_told(below[-1])}"
        return f"{_told(below[-1])}-{_told(above[0])}"


def factors(declared: Iterable[Any]) -> tuple[Factor, ...]:
    """A study's factors. Raises ValidationError."""
    found = tuple(Factor.from_json(each) for each in declared)
    if len(found) > MOST_FACTORS:
        raise ValidationError(_now("At most four factors: each one more makes strata smaller."))
    names = [factor.name for factor in found]
    if len(set(names)) < len(names):
        raise ValidationError(_now("Two factors have the same name."))
    return found


def stratum(levels: Mapping[str, str]) -> str:
    """The name of a stratum by its factors' levels: ``age=old/trust=<3.5``."""
    return "/".join(f"{name}={level}" for name, level in levels.items()) or ALL


def _levels(name: str, declared: Any) -> dict[str, tuple[Any, ...]]:
    if not isinstance(declared, Mapping) or not all(
        isinstance(key, str)
        and 0 < len(key) <= LONGEST
        and not set(key) & set("/=")
        and isinstance(values, list)
        and values
        for key, values in declared.items()
    ):
        raise ValidationError(
            _now(
                "Levels of %(name)s: each with a list of answers, "
                'e.g. {"young": [1, 2], "old": [3]}.'
            )
            % {"name": name}
        )
    every = [value for values in declared.values() for value in values]
    if len(set(map(repr, every))) < len(every):
        raise ValidationError(_now("An answer is in two levels of %(name)s.") % {"name": name})
    return {key: tuple(values) for key, values in declared.items()}


def _cuts(name: str, declared: Any) -> tuple[float, ...]:
    numbers = isinstance(declared, Sequence) and all(type(cut) in (int, float) for cut in declared)
    if not numbers or any(low >= high for low, high in pairwise(declared)):
        raise ValidationError(
            _now("Cuts of %(name)s: a list of rising numbers, e.g. [3.5, 5].") % {"name": name}
        )
    return tuple(declared)


def _told(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return re.sub(r"[/=]", "_", text)[:LONGEST]
