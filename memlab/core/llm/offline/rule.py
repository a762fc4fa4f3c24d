"""The shape of an extraction pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern and the trait it makes; `felt` looks for the emotion in what matched."""

    dimension: str
    pattern: re.Pattern[str]
    template: str
    key: str | None
    language: str
    felt: bool

    @property
    def needed(self) -> frozenset[str]:
        """The groups that the template can't do without."""
        return frozenset(re.findall(r"{(\w+)}", self.template)) - {"qualifier"}
