"""Dialogues are read strictly: what is wrong is named with its place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memlab.core.values import Role
from memlab.research.replay.dialogue import Message, Probe
from memlab.research.replay.dialogue_file import (
    MalformedDialogue,
    read_dialogue,
    read_dialogues,
)

FIXTURES = Path(__file__).parents[3] / "fixtures" / "dialogues"
START = datetime(2027, 3, 1, 10, tzinfo=UTC)


def minimal() -> dict[str, Any]:
    return {
        "id": "small",
        "language": "en",
        "sessions": [
            {
                "started_at": "2027-03-01T10:00:00Z",
                "messages": [
                    {"id": "1", "role": "user", "text": " I like tea. "},
                    {"id": "2", "role": "assistant", "text": "Noted."},
                ],
            },
            {"started_at": "2027-03-08T10:00:00Z", "messages": []},
        ],
        "probes": [{"question": "What does she like?", "evidence": ["1"]}],
    }


def written(folder: Path, content: object) -> Path:
    path = folder / "small.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dialogue_becomes_values_with_times(tmp_path: Path) -> None:
    dialogue = read_dialogue(written(tmp_path, minimal()))
    assert (dialogue.id, dialogue.language, dialogue.names) == ("small", "en", {})
    assert dialogue.sessions[0].messages == (
        Message(id="1", role=Role.PARTICIPANT, text="I like tea.", at=START),
        Message(id="2", role=Role.ASSISTANT, text="Noted.", at=START + timedelta(seconds=30)),
    )
    assert dialogue.sessions[1].messages == ()
    assert dialogue.probes == (
        Probe(question="What does she like?", asked_at=START + timedelta(days=8), evidence=("1",)),
    )


@pytest.mark.parametrize("evidence", [None, []])
def test_evidence_may_be_unknown(tmp_path: Path, evidence: list[str] | None) -> None:
    content = minimal()
    content["probes"][0]["evidence"] = evidence
    (probe,) = read_dialogue(written(tmp_path, content)).probes
    assert not probe.evidence


def _session(content: dict[str, Any], place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = content["sessions"][place]
    return found


def _message(content: dict[str, Any], place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = _session(content)["messages"][place]
    return found


def _probe(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = content["probes"][0]
    return found


Damage = Callable[[dict[str, Any]], Any]
#: What is done to a good dialogue, and what the refusal must name.
DAMAGES: list[tuple[Damage, str]] = [
    (lambda d: d.pop("id"), "$: the field 'id' is missing"),
    (lambda d: d.update(id=7), "$.id: a text is expected, not a number"),
    (lambda d: d.update(language="fr"), "$.language: 'fr' is not possible here"),
    (lambda d: d.update(sessions={}), "$.sessions: a list is expected, not an object"),
    (lambda d: d.update(sessions=[]), "$.sessions: there is no session"),
    (lambda d: d.update(turns=[]), "$.turns: this field is unknown"),
    (lambda d: d.update(speakers=["Nora"]), "$.speakers: an object is expected, not a list"),
    (
        lambda d: _session(d).update(started_at="yesterday"),
        "$.sessions[0].started_at: 'yesterday' is no time",
    ),
    (
        lambda d: _session(d).update(started_at="2027-03-01T10:00:00"),
        "$.sessions[0].started_at: '2027-03-01T10:00:00' has no time zone",
    ),
    (
        lambda d: _session(d).update(started_at=1740000000),
        "$.sessions[0].started_at: a time is expected, not a number",
    ),
    (
        lambda d: _session(d, 1).update(started_at="2027-03-01T10:00:30Z"),
        "$.sessions[1].started_at: the session begins at 2027-03-01T10:00:30+00:00, "
        "but the one before lasts until 2027-03-01T10:00:30+00:00",
    ),
    (
        lambda d: _session(d).pop("messages"),
        "$.sessions[0]: the field 'messages' is missing",
    ),
    (
        lambda d: _message(d).update(role="system"),
        "$.sessions[0].messages[0].role: 'system' is not possible here. Write user or assistant.",
    ),
    (
        lambda d: _message(d, 1).update(id="1"),
        "$.sessions[0].messages[1].id: '1' is also the id of $.sessions[0].messages[0]",
    ),
    (lambda d: _message(d).update(text=" \n"), "$.sessions[0].messages[0].text: the text is empty"),
    (
        lambda d: _message(d).update(text="a" * 4001),
        "$.sessions[0].messages[0].text: the text has 4001 characters",
    ),
    (
        lambda d: _message(d).update(text="a\x00b"),
        "$.sessions[0].messages[0].text: the text holds a character that can't be stored",
    ),
    (
        lambda d: _message(d).update(text="\ud800!"),
        "$.sessions[0].messages[0].text: the text holds a character that can't be stored",
    ),
    (
        lambda d: _message(d).update(at="2027-03-01T10:00:00Z"),
        "$.sessions[0].messages[0].at: this field is unknown",
    ),
    (lambda d: _probe(d).pop("question"), "$.probes[0]: the field 'question' is missing"),
    (
        lambda d: _probe(d).update(evidense=["1"]),
        "$.probes[0].evidense: this field is unknown",
    ),
    (
        lambda d: _probe(d).update(evidence=["1", "9"]),
        "$.probes[0].evidence[1]: no message has the id '9'",
    ),
    (
        lambda d: _probe(d).update(evidence=["1", "1"]),
        "$.probes[0].evidence[1]: '1' is named twice",
    ),
    (
        lambda d: _probe(d).update(asked_at="2027-03-08T10:00:00Z"),
        "$.probes[0].asked_at: the question comes before the last session ended",
    ),
]


@pytest.mark.parametrize(("damage", "told"), DAMAGES, ids=[told for _, told in DAMAGES])
def test_a_malformed_dialogue_is_refused_with_its_place(
    tmp_path: Path, damage: Damage, told: str
) -> None:
    content = minimal()
    damage(content)
    path = written(tmp_path, content)
    with pytest.raises(MalformedDialogue) as refused:
        read_dialogue(path)
    assert str(refused.value).startswith(f"{path}: {told}")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"id": "small",', "$: no JSON at line 1, column 16"),
        ("[]", "$: an object is expected, not a list"),
        ('{"id": "a", "id": "b"}', "$: an object has the field 'id' twice"),
        ("[" * 100_000, "$: the values are nested too deeply"),
    ],
)
def test_a_file_that_is_no_dialogue_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(MalformedDialogue) as refused:
        read_dialogue(path)
    assert str(refused.value).startswith(f"{path}: {told}")


def test_other_encodings_and_missing_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "gbk.json"
    path.write_bytes('{"id": "外公"}'.encode("gbk"))
    with pytest.raises(MalformedDialogue, match=r"gbk\.json: \$: byte 8 is no UTF-8"):
        read_dialogue(path)
    with pytest.raises(MalformedDialogue, match=r"none\.json: \$: the file can't be read"):
        read_dialogue(tmp_path / "none.json")


def test_two_dialogues_of_a_run_must_not_share_an_id(tmp_path: Path) -> None:
    path = written(tmp_path, minimal())
    with pytest.raises(MalformedDialogue, match=r"\$\.id: 'small' is also the id of"):
        read_dialogues([path, path])


def test_our_own_dialogues_are_in_order() -> None:
    dialogues = read_dialogues(sorted(FIXTURES.glob("*.json")))
    assert [(each.id, each.language) for each in dialogues] == [
        ("allotment-en", "en"),
        ("guitar-zh", "zh-hans"),
    ]


def test_dialogues_of_elsewhere_can_be_read() -> None:
    folder = os.environ.get("MEMLAB_DIALOGUES")
    if not folder:
        pytest.skip("MEMLAB_DIALOGUES names no folder with dialogues to read")
    dialogues = read_dialogues(sorted(Path(folder).glob("*.json")))
    assert dialogues, f"{folder} holds no dialogue"
