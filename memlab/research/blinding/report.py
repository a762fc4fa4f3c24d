"""What was found, for people and as JSON."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from memlab.research.blinding.comparison import ALPHA, PERMUTATIONS, Comparison
from memlab.research.blinding.run import LATE, Found, Size


def table(found: Found) -> str:
    """A line a measure, then what it comes to."""
    width = max(len(row.name) for row in found.comparisons)
    head = (
        f"{'measure':<{width}}  {'median':>9}  {'spread':>8}  {'told':>5}  {'p':>7}  {'p Holm':>7}"
    )
    lines = [head, *(_line(row, width) for row in found.comparisons), ""]
    return "\n".join([*lines, *_verdicts(found)])


def _line(row: Comparison, width: int) -> str:
    verdict = f"DIFFERS: {row.most} > {row.least}" if row.differs else "no difference found"
    return (
        f"{row.name:<{width}}  {row.median:>6.1f} {row.unit}  {row.spread:>5.1f} {row.unit}"
        f"  {row.told:>5.2f}  {row.p:>7.4f}  {row.p_corrected:>7.4f}  {verdict}"
    )


def _verdicts(found: Found) -> list[str]:
    late = ", ".join(f"{arm} {share:.1f} %" for arm, share in found.late.items())
    lines = [f"First tokens more than {LATE:g} ms behind the floor: {late}."]
    if not found.structure:
        lines.append("Bytes, headers, types and order of frames: the same in all sessions.")
    for arm, difference in found.structure.items():
        lines.append(f"STRUCTURE DIFFERS in {arm}:\n{difference}")
    return lines


def write(found: Found, size: Size, path: Path) -> None:
    """The whole report or none of it."""
    report = {
        "size": asdict(size),
        "sessions": dict(found.sessions),
        "test": {"name": "Kruskal-Wallis by permutation", "permutations": PERMUTATIONS,
                 "correction": "Holm", "alpha": ALPHA},
        "measures": [
            {**asdict(row), "medians": dict(row.medians), "differs": row.differs}
            for row in found.comparisons
        ],
        "late_percent": dict(found.late),
        "structure": dict(found.structure),
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)
