"""Sessions in several arms beside a real web process, and what is made of what they saw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chat.models import Message
from experiments.models import LabDirectory
from memlab.core.tenancy import lab_scope
from memlab.core.values import Role
from memlab.research.blinding.people import STAGE, Pace
from memlab.research.blinding.report import table, write
from memlab.research.blinding.run import MEASURES, Size, check, found
from memlab.research.blinding.visit import Seen
from memlab.research.blinding.web import ANSWER

PACE = Pace(first_token_ms=600)


def seen(*structure: str, first_token: float = 610.0) -> Seen:
    times = {"first token": [first_token, first_token + 2], "ack": [20.0]}
    return Seen(structure=list(structure), times=times)


def test_what_differs_in_structure_is_shown_with_its_arm() -> None:
    same = [seen("page\nbody"), seen("page\nbody")]
    result = found({"a": same, "b": [*same[:1], seen("page\nother")], "c": same}, PACE)
    assert result.structure == {"b": "--- \n+++ \n@@ -1,2 +1,2 @@\n page\n-body\n+other"}
    assert "STRUCTURE DIFFERS in b" in table(result)


def test_tokens_behind_the_floor_are_counted_by_arm(tmp_path: Path) -> None:
    slow = [seen("page", first_token=699.0), seen("page")]
    result = found({"a": [seen("page"), seen("page")], "b": slow}, PACE)
    assert result.late == {"a": 0.0, "b": 25.0}
    assert [row.name for row in result.comparisons] == ["ack", "first token"]
    told = table(result)
    assert "a 0.0 %, b 25.0 %" in told
    assert "the same in all sessions" in told
    path = tmp_path / "bench" / "blinding.json"
    write(result, Size(each=2, pace=PACE), path)
    report = json.loads(path.read_text())
    assert report["size"]["pace"] == {"first_token_ms": 600, "tokens_per_second": 100.0}
    assert report["sessions"] == {"a": 2, "b": 2}
    assert report["measures"][1]["medians"] == {"a": 611.0, "b": 655.5}
    assert report["structure"] == {}


@pytest.mark.usefixtures("unpooled")
@pytest.mark.django_db(transaction=True)
def test_no_arm_is_told_from_another_by_what_a_real_server_sends() -> None:
    size = Size(
        each=2,
        turns=1,
        at_once=6,
        warming_up=0,
        preparing=10,  # longer than a busy machine takes from the stage's link to the chat page
        pace=Pace(first_token_ms=300, tokens_per_second=200.0),
    )
    result = check(("sensory", "hybrid", "confidence"), size, lambda what: None)
    assert result.structure == {}
    assert result.sessions == {"sensory": 2, "hybrid": 2, "confidence": 2}
    with lab_scope(LabDirectory.objects.get().lab_id):
        said = Message.objects.filter(role=Role.ASSISTANT, session__stage_key=STAGE, seq__gt=1)
        assert [message.text for message in said] == [ANSWER] * 6
    measured = {row.name: row for row in result.comparisons}
    assert set(measured) == {name for name, _unit in MEASURES} - {"first token"}
    assert measured["first token, first turn"].median >= 300
    assert measured["from the last token to the reply"].median >= 250
