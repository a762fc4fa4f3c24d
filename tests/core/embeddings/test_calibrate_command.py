"""`manage.py calibrate` prints what it measured and refuses what it can't measure."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from memlab.core.embeddings.calibration import MEASURED_FILE
from memlab.core.management.commands.calibrate import KEY_VARIABLE
from tests.standin import Answer, Fault, StandIn


def _printed(*arguments: str) -> str:
    out = io.StringIO()
    call_command("calibrate", *arguments, stdout=out)
    return out.getvalue()


def test_table_has_a_line_for_each_language_and_form() -> None:
    head, *rows = _printed().splitlines()
    assert head.split() == ["embedder", "language", "form", "low", "high", "related", "strangers"]
    assert [row.split()[1:3] for row in rows] == [
        ["zh-hans", "query_passage"],
        ["zh-hans", "passage_passage"],
        ["en", "query_passage"],
        ["en", "passage_passage"],
    ]


def test_remote_embedder_is_measured_with_the_key_from_the_environment(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk-operator")
    before = MEASURED_FILE.read_text(encoding="utf-8")
    rows = json.loads(
        _printed("--embedder", "dashscope:m@64", "--base-url", standin.dashscope_url, "--json")
    )
    assert [row["embedder"] for row in rows] == ["dashscope:m@64"] * 4
    assert standin.requests[0].headers["authorization"] == "Bearer sk-operator"
    assert MEASURED_FILE.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--embedder", "mystery"], "there is no embedder 'mystery'"),
        (["--embedder", "dashscope"], "DashScope needs an API key"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str], word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(CommandError, match=word):
        _printed(*arguments)


def test_failing_embedder_is_an_error_of_the_command(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "k")
    standin.script([Answer(fault=Fault.STATUS, status=401, code="InvalidApiKey")])
    with pytest.raises(CommandError, match="authentication"):
        _printed("--embedder", "dashscope:m@64", "--base-url", standin.dashscope_url)
