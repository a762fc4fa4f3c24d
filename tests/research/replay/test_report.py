"""A row of the report, and the report as a file."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path

from memlab.core.values import Section
from memlab.research.replay.probes import Asked
from memlab.research.replay.progress import Progress
from memlab.research.replay.report import Counted, Turns, figures, row, write

KNEW = (Section(key="profile", title="Profile", lines=tuple(f"{n}" * 200 for n in range(8))),)
END = datetime(2026, 1, 5, tzinfo=UTC)
TURNS = Turns(
    prompt_tokens=(100, 200),
    recall_ms=(1.0, 3.0),
    degraded=1,
    memories=(Counted(at=END, counts={"episode": 2}),),
)
WITHOUT = Asked(question="Where?", knew=KNEW, prompt_tokens=300, recall_ms=5.0, degraded=True)


def asked(coverage: float, verbatim: float, *recalled: float) -> Asked:
    depths = dict(zip((1, 5, 10, 20), recalled, strict=True)) if recalled else None
    return Asked(
        question="Who?",
        knew=(),
        prompt_tokens=400,
        recall_ms=7.0,
        degraded=False,
        coverage=coverage,
        verbatim=verbatim,
        recalled=depths,
    )


def test_a_row_sums_up_turns_and_probes() -> None:
    probes = [asked(0.5, 0.0, 0.0, 0.5, 1.0, 1.0), asked(1.0, 1.0, 1.0, 1.0, 1.0, 1.0), WITHOUT]
    assert row(dialogue="d", architecture="hybrid", turns=TURNS, probes=probes, llm="x") == {
        "dialogue": "d",
        "architecture": "hybrid",
        "turns": 2,
        "probes": 3,
        "evidence_coverage": 0.75,
        "evidence_recall": {"1": 0.5, "5": 0.75, "10": 1.0, "20": 1.0},
        "prompt_tokens": {"mean": 280.0, "max": 400, "p50": 300, "p95": 400},
        "recall_ms": {"mean": 4.6, "max": 7.0, "p50": 5.0, "p95": 7.0},
        "degraded": 2,
        "evidence_verbatim": 0.5,
        "probes_with_evidence": 2,
        "memories": [{"at": "2026-01-05T00:00:00+00:00", "counts": {"episode": 2}}],
        "asked": [
            {"question": "Who?", "coverage": 0.5, "prompt_tokens": 400, "knew": []},
            {"question": "Who?", "coverage": 1.0, "prompt_tokens": 400, "knew": []},
            {
                "question": "Where?",
                "coverage": None,
                "prompt_tokens": 300,
                "knew": [
                    {"title": "Profile", "lines": [f"{n}" * 140 for n in range(6)], "more": 2}
                ],
            },
        ],
        "llm": "x",
    }


def test_what_is_not_known_is_null() -> None:
    found = row(dialogue="d", architecture="working", turns=TURNS, probes=[WITHOUT])
    assert found["evidence_coverage"] is None
    assert found["evidence_recall"] is None
    found = row(dialogue="d", architecture="working", turns=TURNS, probes=[asked(0.0, 0.0)])
    assert (found["evidence_coverage"], found["evidence_recall"]) == (0.0, None)


def test_figures_are_nearest_ranks() -> None:
    assert figures([]) == {"mean": None, "max": None, "p50": None, "p95": None}
    assert figures([7]) == {"mean": 7.0, "max": 7, "p50": 7, "p95": 7}
    assert figures(range(1, 101)) == {"mean": 50.5, "max": 100, "p50": 50, "p95": 95}


def test_the_report_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("an older report")
    write([{"dialogue": "小"}], path)
    assert json.loads(path.read_text(encoding="utf-8")) == [{"dialogue": "小"}]
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_progress_is_a_line_a_row_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    progress = Progress(out, dialogues=2, architectures=3)
    progress.begins(dialogue="small", number=1, architecture="gist", place=2, sessions=4)
    for number in range(1, 5):
        progress.session(number)
        progress.turn()
    seconds = progress.ends()
    assert out.getvalue() == f"dialogue 1/2 small · gist (2/3) · 4 messages · {seconds:.1f} s\n"


def test_progress_is_one_changing_line_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    progress = Progress(out, dialogues=1, architectures=1)
    progress.note("hello")
    assert out.getvalue() == "\r\x1b[Khello\n"
