"""What was measured: one figure a row, with the goal it was measured against."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A measured value. ``goal`` is the most it may be; None where it is only told."""

    name: str
    value: float
    unit: str
    goal: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the goal is met; None without one."""
        return None if self.goal is None else self.value <= self.goal


def ratio(name: str, value: float, to: float, *, goal: float | None = None) -> Figure:
    """``value`` as a multiple of ``to``, both in the same unit."""
    return Figure(name=name, value=value / to, unit="×", goal=goal)


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile of at least one value."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def table(figures: Sequence[Figure]) -> str:
    """The figures for people, one a line."""
    width = max((len(figure.name) for figure in figures), default=0)
    return "\n".join(_line(figure, width) for figure in figures)


def _line(figure: Figure, width: int) -> str:
    verdict = ""
    if figure.goal is not None:
        verdict = f"   goal ≤ {figure.goal:g}: {'holds' if figure.holds else 'MISSED'}"
    value = f"{_rounded(figure.value):>9g} {figure.unit:<7}"
    return f"{figure.name:<{width}}  {value}{verdict}".rstrip()


def _rounded(value: float) -> float:
    """Three significant digits, and never fewer than the whole number."""
    return round(value, max(0, 2 - math.floor(math.log10(abs(value))))) if value else 0.0


def as_json(figure: Figure) -> dict[str, object]:
    row = asdict(figure) | {"value": _rounded(figure.value), "holds": figure.holds}
    return {key: row[key] for key in ("name", "value", "unit", "goal", "holds")}


def write(figures: Sequence[Figure], path: Path) -> None:
    """The whole report or none of it: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    rows = [as_json(figure) for figure in figures]
    beside.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)
