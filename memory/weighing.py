"""How important an item of a bin is, with an arm's weights. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from memory.dynamics import DIGITS
from memory.formulas import homeostasis


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """What makes an item important: an arm's parameters of the same names."""

    importance_surprise: float = 0.5
    importance_match: float = 0.2
    importance_recency: float = 0.3
    recency_hours: float = 24.0

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Weighing:
        return cls(**{field.name: parameters[field.name] for field in fields(cls)})

    def importance(self, *, error: float, match: float, age_hours: float) -> float:
        """In [0, 1]. ``match`` is that of the moment's state and the present one."""
        weighed = homeostasis.importance(
            error=error,
            match=match,
            recency=homeostasis.recency(age_hours=age_hours, time_constant=self.recency_hours),
            weights=(self.importance_surprise, self.importance_match, self.importance_recency),
        )
        return round(weighed, DIGITS)
