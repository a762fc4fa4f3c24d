"""Reports side by side: what is added up, what is refused, what the page holds."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memlab.research.compare.markdown import table
from memlab.research.compare.page import labels_of, page
from memlab.research.compare.reports import MalformedReport, arms_of, read_reports

Row = dict[str, Any]


def figures(value: float) -> dict[str, float]:
    return {"mean": value, "max": value, "p50": value, "p95": value}


def row(dialogue: str, architecture: str, coverage: float | None, evidence: int) -> Row:
    recall = None if coverage is None else {"1": 0.1, "5": 0.2, "10": coverage, "20": 1.0}
    return {
        "dialogue": dialogue,
        "architecture": architecture,
        "turns": 10,
        "probes": 4,
        "probes_with_evidence": evidence,
        "evidence_coverage": coverage,
        "evidence_recall": recall,
        "prompt_tokens": figures(100.0),
        "recall_ms": figures(2.0),
        "degraded": 1,
        "memories": [{"at": "2026-01-05T00:00:00+00:00", "counts": {"episode": 3, "trait": 1}}],
        "asked": [
            {
                "question": "<b>Who</b> & 谁？",
                "coverage": coverage,
                "prompt_tokens": 90,
                "knew": [
                    {"title": "Profile", "lines": ["</article><script>x</script>"], "more": 2}
                ],
            }
        ],
        "llm": "offline:offline-1",
        "embedder": "scripted",
        "parameters": {"turns": 7},
    }


def written(tmp_path: Path, name: str, *rows: Row) -> Path:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_shares_are_pooled_over_the_probes_that_name_evidence(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "r",
        row("a", "hybrid", 0.5, 1),
        row("b", "hybrid", 1.0, 3),
        row("c", "hybrid", None, 0),
    )
    (arm,) = arms_of(read_reports([path]))
    assert arm.coverage() == 0.875
    assert arm.recalled(10) == 0.875
    assert arm.recalled(5) == pytest.approx(0.2)
    assert (arm.total("turns"), arm.total("degraded")) == (30, 3)
    assert arm.mean("prompt_tokens", "mean") == 100.0


def test_arms_of_several_reports_are_told_apart(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, "dense", row("a", "hybrid", 0.5, 1)),
        written(tmp_path, "fused", row("a", "hybrid", 0.7, 1), row("a", "gist", None, 0)),
    ]
    arms = arms_of(read_reports(paths))
    assert labels_of(arms) == ["hybrid · dense", "hybrid · fused", "gist · fused"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "can't be read as JSON"),
        ("[]", "at least one row"),
        ("[3]", "row 1: not an object"),
        (json.dumps([{**row("a", "gist", 0.5, 1), "turns": "ten"}]), "row 1: turns is 'ten'"),
        (json.dumps([row("a", "gist", 0.5, 1)] * 2), "row 2: a under gist stands there twice"),
        (
            json.dumps([{**row("a", "gist", 0.5, 1), "evidence_recall": {"3": 1.0}}]),
            "row 1: evidence_recall has the keys ['3']",
        ),
    ],
)
def test_a_file_that_is_no_report_is_refused_with_its_place(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "r.json"
    path.write_text(content)
    with pytest.raises(MalformedReport) as refused:
        read_reports([path])
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


class _Page(HTMLParser):
    """Collects what the page would load, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_opens_without_a_network_and_says_what_arms_knew(tmp_path: Path) -> None:
    path = written(tmp_path, "r", row("a", "hybrid", 0.5, 1), row("a", "gist", 0.25, 1))
    html = page(arms_of(read_reports([path])), probes=20)
    parsed = _Page()
    parsed.feed(html)
    assert parsed.loads == []
    assert parsed.scripts == 1  # its own switch of language; no text of a dialogue became one
    assert "&lt;b&gt;Who&lt;/b&gt; &amp; 谁？" in html
    assert "Evidence coverage" in html
    assert "证据覆盖率" in html
    assert "0.500" in html
    assert "0.250" in html


def test_questions_beyond_the_limit_are_counted_not_hidden(tmp_path: Path) -> None:
    many = row("a", "hybrid", 0.5, 1)
    many["asked"] = many["asked"] * 3
    html = page(arms_of(read_reports([written(tmp_path, "r", many)])), probes=2)
    assert "The first 2 of 3 questions" in html
    assert html.count("class='probe'") == 2


def test_the_table_is_there_as_markdown_too(tmp_path: Path) -> None:
    path = written(tmp_path, "r", row("a", "hybrid", 0.5, 1), row("a", "sensory", None, 0))
    heads, _rule, hybrid, sensory = table(arms_of(read_reports([path]))).splitlines()
    assert heads.startswith("| architecture | dialogues | turns | questions | evidence coverage |")
    assert hybrid == (
        "| hybrid | 1 | 10 | 4 | 0.500 | 0.100 | 0.200 | 0.500 | 1.000 | 100 | 2.0 | 1 |"
    )
    assert sensory == "| sensory | 1 | 10 | 4 | – | – | – | – | – | 100 | 2.0 | 1 |"


def test_the_command_writes_the_page_or_says_why_not(tmp_path: Path) -> None:
    path = written(tmp_path, "r", row("a", "hybrid", 0.5, 1))
    call_command("compare", str(path), html=tmp_path / "out.html")
    assert (tmp_path / "out.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(CommandError, match="can't be written"):
        call_command("compare", str(path), html=tmp_path / "nowhere" / "out.html")
