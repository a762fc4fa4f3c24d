"""Our own dialogues under every architecture, through the code of the live chat."""

from __future__ import annotations

import asyncio
from dataclasses import replace as replaced
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from chat.models import Message, Receipt, Reply
from experiments.models import Session
from memlab.core.clock import wall_now
from memlab.core.due import Due
from memlab.core.embeddings.base import EmbeddingFailure
from memlab.core.embeddings.local import LocalEmbedder
from memlab.core.ledger import Job
from memlab.core.llm import open_model
from memlab.core.llm.base import FailureKind
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memlab.research.replay import laboratory
from memlab.research.replay.conversation import Lived
from memlab.research.replay.dialogue import Dialogue
from memlab.research.replay.probes import Asked, ask_all
from memlab.research.replay.recorded import RecordedDoors
from memlab.research.replay.run import replay
from memlab.research.replay.study import Choices, enrol
from memory.models import Episode
from tests.diary import Entry, entries
from tests.doors import ScriptedEmbedder
from tests.research.replay.conftest import plan, rows_of_lab, silent

pytestmark = pytest.mark.django_db(transaction=True)

ALL = ("sensory", "working", "gist", "hybrid", "full_history", "random_recall")
TIMES = ("recall_ms", "seconds")


async def lived(dialogue: Dialogue, architecture: str, **choices: Any) -> Lived:
    """A participant who has lived through all sessions."""
    room = await unit(laboratory.open_laboratory, wall=wall_now())
    embedder = ScriptedEmbedder()
    participant = await unit(
        enrol,
        room.lab_id,
        dialogue,
        architecture,
        Choices(**choices),
        embedder=embedder.id,
        wall=wall_now(),
    )
    person = Lived(
        lab_id=room.lab_id,
        participant=participant,
        architecture=architecture,
        doors=RecordedDoors(extraction=open_model("offline", ""), embedder=embedder),
    )
    await person.live(dialogue, on_session=lambda number: None, on_exchange=lambda: None)
    return person


async def asked_of(person: Lived, dialogue: Dialogue) -> list[Asked]:
    return await ask_all(
        dialogue,
        lab_id=person.lab_id,
        participant=person.participant,
        doors=person.doors,
        messages=person.messages,
        wait=person.wait,
    )


def without_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


async def test_a_row_for_each_dialogue_and_architecture(
    allotment: Dialogue, guitar: Dialogue
) -> None:
    rows = [
        *await replay(plan(allotment, architectures=ALL), silent()),
        *await replay(plan(guitar, architectures=("working", "full_history")), silent()),
    ]
    found = {(row["dialogue"], row["architecture"]): row for row in rows}
    assert list(found) == [
        *(("allotment-en", architecture) for architecture in ALL),
        ("guitar-zh", "working"),
        ("guitar-zh", "full_history"),
    ]
    assert [row["turns"] for row in rows] == [21] * 6 + [20] * 2
    assert {(row["probes"], row["probes_with_evidence"], row["degraded"]) for row in rows} == {
        (5, 4, 0)
    }
    coverage = {key: row["evidence_coverage"] for key, row in found.items()}
    assert coverage["allotment-en", "sensory"] == 0.0
    # The last seven turns hold one of two, and one of one, of four probes' evidence.
    assert coverage["allotment-en", "working"] == 0.375
    # Here they hold one of one, and one of two.
    assert coverage["guitar-zh", "working"] == 0.375
    assert coverage["allotment-en", "full_history"] == coverage["guitar-zh", "full_history"] == 1.0
    for row in rows:
        searches = row["architecture"] in ("hybrid", "random_recall")
        assert (row["evidence_recall"] is not None) is searches
        assert set(row["prompt_tokens"]) == set(row["recall_ms"]) == {"mean", "max", "p50", "p95"}


async def test_what_is_found_does_not_depend_on_what_is_recalled(allotment: Dialogue) -> None:
    hybrid, drawn = await replay(
        plan(allotment, architectures=("hybrid", "random_recall"), encode="all"), silent()
    )
    assert hybrid["evidence_recall"] == drawn["evidence_recall"]
    shares = [hybrid["evidence_recall"][depth] for depth in ("1", "5", "10", "20")]
    assert shares == sorted(shares)
    assert shares[-1] > 0.5
    assert hybrid["parameters"]["encode"] == "all"


async def test_the_ranking_decides_what_is_found_first(guitar: Dialogue) -> None:
    found = {}
    for ranking in ("dense", "hybrid"):
        (row,) = await replay(
            plan(guitar, architectures=("hybrid",), ranking=ranking, encode="all"), silent()
        )
        assert (row["parameters"]["ranking"], row["degraded"]) == (ranking, 0)
        found[ranking] = row["evidence_recall"]
    assert found["hybrid"]["5"] > found["dense"]["5"]


async def test_runs_give_the_same_report_also_at_once(guitar: Dialogue) -> None:
    same = plan(guitar, architectures=("random_recall",), preset="weekly")
    one, two = await asyncio.gather(replay(same, silent()), replay(same, silent()))
    assert without_times(one) == without_times(two) == without_times(await replay(same, silent()))


async def test_memories_that_compress_are_lived_through_alike_every_time(guitar: Dialogue) -> None:
    same = plan(guitar, architectures=("compression",))
    (row,) = first = await replay(same, silent())
    assert without_times(first) == without_times(await replay(same, silent()))
    assert (row["turns"], row["degraded"]) == (20, 0)
    assert row["evidence_coverage"] > 0
    assert row["parameters"]["summary_after"] == 7.0


async def test_a_homeostatic_memory_lives_a_recorded_life(guitar: Dialogue) -> None:
    (row,) = await replay(plan(guitar, architectures=("homeostatic",)), silent())
    assert (row["turns"], row["degraded"]) == (20, 0)
    assert row["evidence_coverage"] > 0
    assert row["parameters"]["idle_minutes"] == 30.0


async def test_everything_that_was_recorded_stands_in_the_transcript(allotment: Dialogue) -> None:
    person = await lived(allotment, "hybrid", encode="all")
    recorded = [message for session in allotment.sessions for message in session.messages]
    stored = await unit(said_in, person.lab_id)
    assert stored == [
        (person.messages[each.id], each.role, each.text, each.at) for each in recorded
    ]

    def left() -> dict[str, Any]:
        with lab_scope(person.lab_id):
            failed = Reply.objects.filter(state="failed").order_by("session__number")
            return {
                "failed": list(failed.values_list("question_id", "failure_detail", "retryable")),
                "sessions": [
                    (each.turns, each.state) for each in Session.objects.order_by("number")
                ],
                "providers": set(Receipt.objects.values_list("provider", flat=True)),
                "episodes": set(Episode.objects.values_list("ends_with", "form")),
                "jobs": list(Job.objects.filter(lab_id=person.lab_id).values_list("kind", "state")),
                "due": Due.objects.filter(lab_id=person.lab_id).count(),
            }

    never_answered = [person.messages[id_] for id_ in ("2.12", "4.12", "5.11")]
    assert await unit(left) == {
        # Stored, settled, and no turn; encoded, since every message is.
        "failed": [(each, "the recording holds no reply", False) for each in never_answered],
        "sessions": [(turns, "ended") for turns in (6, 5, 0, 5, 5)],
        "providers": {"recorded"},
        "episodes": {(person.messages[each.id], "all/in_context") for each in recorded},
        "jobs": [("consolidate", "done")] * 5,
        "due": 0,
    }


def said_in(lab_id: int) -> list[tuple[UUID, str, str, datetime]]:
    """What stands in a lab's one transcript: the empty place of a missing reply says nothing."""
    with lab_scope(lab_id):
        messages = Message.objects.exclude(text="").order_by("session__number", "seq")
        return [(each.id, each.role, each.text, each.at) for each in messages]


async def test_a_replay_recalls_and_strengthens_as_a_live_chat_does(guitar: Dialogue) -> None:
    """Also: probes strengthen nothing."""
    person = await lived(guitar, "hybrid", preset="weekly")
    before = await unit(rows_of_lab, person.lab_id)
    assert any("recalled" in event for event in before["memory_memoryevent"])
    assert len(before["memory_episode"]) == 20
    first = await asked_of(person, guitar)
    assert await unit(rows_of_lab, person.lab_id) == before
    again = await asked_of(person, guitar)
    assert [(each.coverage, each.recalled) for each in first] == [
        (each.coverage, each.recalled) for each in again
    ]
    assert any(each.coverage for each in first)


async def test_time_does_to_a_replayed_memory_what_it_does_to_a_live_one(
    guitar: Dialogue, settings: Any
) -> None:
    settings.MEMORY_ARCHITECTURES = settings.MEMORY_ARCHITECTURES | {"diary": "tests.diary.Diary"}
    later = [replaced(each, asked_at=each.asked_at + timedelta(days=2)) for each in guitar.probes]
    dialogue = replaced(guitar, probes=tuple(later))
    person = await lived(dialogue, "diary")

    def kept() -> list[Entry]:
        with lab_scope(person.lab_id):
            return entries(person.participant.pk)

    before = await unit(kept)
    assert [entry[0] for entry in before].count("rehearsed") == len(dialogue.sessions)
    await asked_of(person, dialogue)
    after = await unit(kept)
    assert {entry[0] for entry in after[len(before) :]} == {"compressed"}
    # Every session, turn and probe met the memory as it was at its time.
    times = [entry[2] for entry in after]
    assert times == sorted(times)
    assert times[-1] <= max(probe.asked_at for probe in later)
    assert await unit(planned, person.lab_id) == [("maintain", None)]


def planned(lab_id: int) -> list[tuple[str, datetime | None]]:
    """What is due in a lab, and when on the wall clock: never, in a replay."""
    return list(Due.objects.filter(lab_id=lab_id).values_list("kind", "wall_at"))


async def test_a_failing_embedder_is_counted_and_ends_nothing(guitar: Dialogue) -> None:
    broken = ScriptedEmbedder()
    broken.failure = EmbeddingFailure(FailureKind.UNAVAILABLE, "scripted")
    (row,) = await replay(plan(guitar, architectures=("hybrid",), embedder=broken), silent())
    # Every turn, every probe, and the consolidation of every session.
    assert (row["turns"], row["degraded"]) == (20, 20 + 5 + 4)
    assert row["evidence_recall"] is None


async def test_with_the_local_embedder_most_evidence_is_found(guitar: Dialogue) -> None:
    (row,) = await replay(
        plan(guitar, architectures=("hybrid",), embedder=LocalEmbedder(), preset="weekly"),
        silent(),
    )
    assert row["degraded"] == 0
    assert row["evidence_recall"]["10"] >= 0.75
