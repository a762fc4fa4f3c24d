"""Reading reports of ``manage.py replay``, and adding up what an arm came to over dialogues."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from memlab.research.replay.probes import DEPTHS

Row = dict[str, Any]

#: What a row must have, and of which types its values may be.
_NUMBER = (int, float)
_REQUIRED: dict[str, tuple[type, ...]] = {
    "dialogue": (str,),
    "architecture": (str,),
    "turns": (int,),
    "probes": (int,),
    "evidence_coverage": (*_NUMBER, type(None)),
    "evidence_recall": (dict, type(None)),
    "prompt_tokens": (dict,),
    "recall_ms": (dict,),
    "degraded": (int,),
    "probes_with_evidence": (int,),
}


class MalformedReport(Exception):
    """A file is no report; the message says where, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One file; ``name`` tells its arms from those of other files."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One architecture of one report, with its row for each dialogue."""

    report: str
    architecture: str
    rows: tuple[Row, ...]

    def row(self, dialogue: str) -> Row | None:
        return next((row for row in self.rows if row["dialogue"] == dialogue), None)

    def coverage(self) -> float | None:
        """Mean share of a probe's evidence in the prompt, over all probes that name evidence."""
        return self._pooled(lambda row: row["evidence_coverage"])

    def recalled(self, depth: int) -> float | None:
        """Mean evidence recall among the ``depth`` best, over the same probes."""
        return self._pooled(lambda row: (row["evidence_recall"] or {}).get(str(depth)))

    def mean(self, figure: str, of: str) -> float | None:
        """Mean over dialogues of one of a row's figures, such as the p95 of ``recall_ms``."""
        values = [row[figure].get(of) for row in self.rows]
        known = [value for value in values if value is not None]
        return fmean(known) if known else None

    def total(self, key: str) -> int:
        return sum(row[key] for row in self.rows)

    def _pooled(self, read: Callable[[Row], float | None]) -> float | None:
        weighed: list[tuple[float, int]] = []
        for row in self.rows:
            value = read(row)
            if value is not None:
                weighed.append((value, row["probes_with_evidence"]))
        weight = sum(probes for _value, probes in weighed)
        return sum(value * probes for value, probes in weighed) / weight if weight else None


def read_reports(paths: Sequence[Path]) -> tuple[Report, ...]:
    """Every file, checked; raises MalformedReport naming file, row and key."""
    return tuple(
        Report(name=name, rows=_rows(path)) for path, name in zip(paths, _names(paths), strict=True)
    )


def arms_of(reports: Iterable[Report]) -> tuple[Arm, ...]:
    """Arms in the order of files and rows."""
    arms = []
    for report in reports:
        for architecture in dict.fromkeys(row["architecture"] for row in report.rows):
            rows = tuple(row for row in report.rows if row["architecture"] == architecture)
            arms.append(Arm(report=report.name, architecture=architecture, rows=rows))
    return tuple(arms)


def _names(paths: Sequence[Path]) -> list[str]:
    """The files' names without their ending; whole paths where two would be called alike."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _rows(path: Path) -> tuple[Row, ...]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MalformedReport(
            f"{path}: can't be read as JSON ({error}). Name a report that `manage.py replay` wrote."
        ) from error
    if not isinstance(rows, list) or not rows:
        raise MalformedReport(f"{path}: a report is a list of at least one row.")
    seen: set[tuple[str, str]] = set()
    for number, row in enumerate(rows, start=1):
        _check(row, f"{path}, row {number}")
        key = (row["dialogue"], row["architecture"])
        if key in seen:
            raise MalformedReport(
                f"{path}, row {number}: {key[0]} under {key[1]} stands there twice. "
                "Name each run's report by itself."
            )
        seen.add(key)
    return tuple(rows)


def _check(row: object, where: str) -> None:
    if not isinstance(row, dict):
        raise MalformedReport(f"{where}: not an object.")
    for key, types in _REQUIRED.items():
        if key not in row:
            raise MalformedReport(f"{where}: {key} is missing. Write the report anew.")
        if not isinstance(row[key], types) or isinstance(row[key], bool):
            raise MalformedReport(f"{where}: {key} is {row[key]!r}, which no replay writes.")
    recall = row["evidence_recall"]
    if recall is not None and set(recall) != {str(depth) for depth in DEPTHS}:
        raise MalformedReport(f"{where}: evidence_recall has the keys {sorted(recall)}.")
