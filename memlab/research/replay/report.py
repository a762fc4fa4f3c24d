"""A row of the report: what one dialogue came to under one architecture."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from chat.models import Receipt
from experiments.models import Participant
from memlab.core.tenancy import lab_scope
from memlab.research.replay.probes import DEPTHS, Asked
from memory.history import census, happened_to

Row = dict[str, Any]

#: Of each section that a probe saw the report tells so many lines, and so much of each.
LINES_TOLD = 6
CHARACTERS_TOLD = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """What the receipts of a participant's turns say, and the sessions whose memory fell short."""

    prompt_tokens: tuple[int, ...]
    recall_ms: tuple[float, ...]
    degraded: int
    memories: tuple[Counted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many memories of each kind there were ``at`` the end of a session."""

    at: datetime
    counts: Mapping[str, int]


def turns_of(lab_id: int, participant: Participant) -> Turns:
    """Read from the rows that the chat has written."""
    with lab_scope(lab_id):
        receipts = Receipt.objects.filter(reply__session__participant=participant).values_list(
            "prompt_tokens", "timings", "degraded"
        )
        rows = list(receipts)
        sessions = list(participant.sessions.order_by("number"))
        ends = [session.ended_at or session.started_at for session in sessions]
        counts = list(census(happened_to(participant.pk), ends))
    return Turns(
        prompt_tokens=tuple(tokens for tokens, _timings, _degraded in rows),
        recall_ms=tuple(timings["recall"] for _tokens, timings, _degraded in rows),
        degraded=sum(bool(degraded) for *_rest, degraded in rows)
        + sum(bool(session.degraded) for session in sessions),
        memories=tuple(
            Counted(at=at, counts=count) for at, count in zip(ends, counts, strict=True)
        ),
    )


def row(
    *, dialogue: str, architecture: str, turns: Turns, probes: Sequence[Asked], **more: Any
) -> Row:
    """The report's row; ``more`` are keys beside those that every row has."""
    return {
        "dialogue": dialogue,
        "architecture": architecture,
        "turns": len(turns.prompt_tokens),
        "probes": len(probes),
        "evidence_coverage": _mean(probe.coverage for probe in probes),
        "evidence_recall": _recall(probes),
        "prompt_tokens": figures(
            [*turns.prompt_tokens, *(probe.prompt_tokens for probe in probes)]
        ),
        "recall_ms": figures([*turns.recall_ms, *(probe.recall_ms for probe in probes)]),
        "degraded": turns.degraded + sum(probe.degraded for probe in probes),
        "evidence_verbatim": _mean(probe.verbatim for probe in probes),
        "probes_with_evidence": sum(probe.coverage is not None for probe in probes),
        "memories": [
            {"at": counted.at.isoformat(), "counts": dict(counted.counts)}
            for counted in turns.memories
        ],
        "asked": [_told(probe) for probe in probes],
        **more,
    }


def _told(probe: Asked) -> dict[str, Any]:
    """One probe and the beginning of what stood in its prompt."""
    return {
        "question": probe.question,
        "coverage": None if probe.coverage is None else round(probe.coverage, 4),
        "prompt_tokens": probe.prompt_tokens,
        "knew": [
            {
                "title": section.title,
                "lines": [line[:CHARACTERS_TOLD] for line in section.lines[:LINES_TOLD]],
                "more": max(0, len(section.lines) - LINES_TOLD),
            }
            for section in probe.knew
        ],
    }


def figures(values: Sequence[float]) -> dict[str, float | None]:
    """Mean, maximum and nearest-rank percentiles; all null without values."""
    if not values:
        return dict.fromkeys(("mean", "max", "p50", "p95"))
    ordered = sorted(values)
    return {
        "mean": round(fmean(ordered), 2),
        "max": round(ordered[-1], 2),
        "p50": round(_percentile(ordered, 50), 2),
        "p95": round(_percentile(ordered, 95), 2),
    }


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def _recall(probes: Sequence[Asked]) -> dict[str, float | None] | None:
    searched = [probe.recalled for probe in probes if probe.recalled is not None]
    if not searched:
        return None
    return {str(depth): _mean(each[depth] for each in searched) for depth in DEPTHS}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), 4) if known else None


def write(rows: Sequence[Row], path: Path) -> None:
    """The whole report or none of it: a reader never sees half a file."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(
        json.dumps(rows, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8"
    )
    beside.replace(path)
