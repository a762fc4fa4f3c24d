"""The table of all dialogues together as Markdown, for a document that quotes it."""

from __future__ import annotations

from collections.abc import Sequence

from memlab.research.compare.page import labels_of
from memlab.research.compare.reports import Arm
from memlab.research.replay.probes import DEPTHS

HEADINGS = (
    "architecture",
    "dialogues",
    "turns",
    "questions",
    "evidence coverage",
    *(f"recall@{depth}" for depth in DEPTHS),
    "prompt tokens, mean",
    "recall ms, p50",
    "degraded",
)


def table(arms: Sequence[Arm]) -> str:
    """A row an arm; – where an arm has no such figure."""
    rows = [HEADINGS, tuple("---" for _ in HEADINGS)]
    rows += [_row(label, arm) for label, arm in zip(labels_of(arms), arms, strict=True)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(label: str, arm: Arm) -> tuple[str, ...]:
    return (
        label,
        str(len(arm.rows)),
        f"{arm.total('turns'):,}",
        f"{arm.total('probes'):,}",
        _figure(arm.coverage(), "{:.3f}"),
        *(_figure(arm.recalled(depth), "{:.3f}") for depth in DEPTHS),
        _figure(arm.mean("prompt_tokens", "mean"), "{:,.0f}"),
        _figure(arm.mean("recall_ms", "p50"), "{:.1f}"),
        str(arm.total("degraded")),
    )


def _figure(value: float | None, shown: str) -> str:
    return "–" if value is None else shown.format(value)
