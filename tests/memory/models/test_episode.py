from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import DatabaseError
from django.test.utils import CaptureQueriesContext

from experiments.models import Participant
from memlab.core.tenancy import lab_scope
from memory.enums import EventKind, TimeUnit
from memory.formulas import forgetting
from memory.models import Episode, MemoryEvent
from memory.models.base import Memory
from memory.models.episode import NEVER_FORGOTTEN, Curve
from tests.memory.conftest import new_participant
from tests.memory.dialogue import START, identified
from tests.memory.test_search import episode

pytestmark = pytest.mark.django_db

HOU = Curve()


def present_state(memory: Memory) -> dict[str, Any]:
    """What the log says a memory is now: every event's ``after`` laid over the ones before."""
    state: dict[str, Any] = {}
    for event in MemoryEvent.objects.of_memory(memory.pk):
        before = event.before or {}
        assert before == {name: state.get(name) for name in before}
        state |= event.after or {}
    return state


def test_an_episodes_life_is_that_of_the_formula(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        g = forgetting.initial_consolidation(salience=0.7)
        row = episode(participant, "life", salience=0.7, g=g, curve=HOU)
        assert Episode.objects.encode([row], now=START) == 1
        life, now = [], START
        for days in (1, 2, 4):
            now += timedelta(days=days)
            Episode.objects.reconsolidate(
                [row.pk], curve=HOU, now=now, reply=identified(f"reply at {now}")
            )
            life.append(round(Episode.objects.get().g, 6))
        stored = Episode.objects.get()
    assert life == [1.973858, 3.002010, 4.303448]
    assert stored.recall_count == 3
    assert stored.last_recalled_at == stored.anchor == START + timedelta(days=7)
    assert stored.recallable_until == HOU.recallable_until(
        g=stored.g, anchor=stored.anchor, salience=0.7
    )


def test_the_log_replays_to_the_present_state(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = episode(participant, "logged", salience=0.5, curve=HOU)
        Episode.objects.encode([row], now=START)
        for days in (1, 3):
            now = START + timedelta(days=days)
            Episode.objects.reconsolidate(
                [row.pk], curve=HOU, now=now, reply=identified(f"reply {days}")
            )
        stored = Episode.objects.get()
        state = present_state(stored)
        assert state == stored.encoding_event(START).after
        kinds = [event.event for event in MemoryEvent.objects.of_memory(row.pk)]
    assert kinds == [EventKind.ENCODED, EventKind.RECALLED, EventKind.RECALLED]


def test_one_reply_strengthens_once(participant: Participant) -> None:
    reply = identified("one reply")
    with lab_scope(participant.lab_id):
        row = episode(participant, "once", curve=HOU)
        Episode.objects.encode([row], now=START)
        later = START + timedelta(days=1)
        assert Episode.objects.reconsolidate([row.pk], curve=HOU, now=later, reply=reply) == 1
        assert Episode.objects.reconsolidate([row.pk], curve=HOU, now=later, reply=reply) == 0
        assert Episode.objects.get().recall_count == 1
        with pytest.raises(IntegrityError), transaction.atomic():
            MemoryEvent.objects.record(
                [Episode.objects.get().strengthen(curve=HOU, now=later, reply=reply)]
            )


def test_encoding_again_leaves_what_recall_has_changed(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.encode([episode(participant, "kept", curve=HOU)], now=START)
        Episode.objects.reconsolidate(
            [identified("kept")], curve=HOU, now=START, reply=identified("reply")
        )
        again = [episode(participant, "kept", curve=HOU), episode(participant, "new", curve=HOU)]
        assert Episode.objects.encode(again, now=START) == 1
        assert Episode.objects.get(text="kept").recall_count == 1
        assert MemoryEvent.objects.count() == 3


def test_strengthening_many_takes_as_many_statements_as_strengthening_one(
    participant: Participant,
) -> None:
    counts = []
    with lab_scope(participant.lab_id):
        for size in (1, 5):
            rows = [episode(participant, f"{size}/{n}", curve=HOU) for n in range(size)]
            Episode.objects.encode(rows, now=START)
            with CaptureQueriesContext(connection) as statements:
                Episode.objects.reconsolidate(
                    [row.pk for row in rows], curve=HOU, now=START, reply=identified(f"{size}")
                )
            counts.append(len(statements))
    assert counts[0] == counts[1]


def test_an_earlier_study_time_never_moves_the_anchor_back(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = episode(participant, "late", curve=HOU)
        Episode.objects.encode([row], now=START)
        Episode.objects.reconsolidate(
            [row.pk], curve=HOU, now=START - timedelta(hours=1), reply=identified("early")
        )
        stored = Episode.objects.get()
    assert stored.anchor == START
    assert stored.g == 20.0


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (Curve(recall_threshold=0.86), timedelta(days=0.2428)),
        (Curve(recall_threshold=0.86, time_unit=TimeUnit.HOURS), timedelta(hours=0.2428)),
        (Curve(recall_threshold=0.86, time_unit=TimeUnit.MINUTES), timedelta(minutes=0.2428)),
    ],
)
def test_recallable_until_counts_in_the_curves_unit(curve: Curve, expected: timedelta) -> None:
    until = curve.recallable_until(g=1.0, anchor=START, salience=0.0)
    assert abs(until - START - expected) < timedelta(seconds=6)


def test_what_salience_alone_recalls_is_never_forgotten() -> None:
    curve = Curve(recall_threshold=0.05, recall_bonus=0.05)
    assert curve.recallable_until(g=1.0, anchor=START, salience=1.0) == NEVER_FORGOTTEN
    assert curve.recallable_until(g=1e9, anchor=START, salience=0.0) == NEVER_FORGOTTEN


@pytest.mark.parametrize(
    "change", ["UPDATE memory_memoryevent SET event = 'x'", "DELETE FROM memory_memoryevent"]
)
def test_the_log_is_append_only(participant: Participant, change: str) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.encode([episode(participant, "logged")], now=START)
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(change)


def test_another_lab_sees_no_memories(participant: Participant, other_lab: Any) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.encode([episode(participant, "canary")], now=START)
    with lab_scope(other_lab.pk):
        assert Episode.objects.count() == 0
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM memory_episode")
            assert cursor.fetchone() == (0,)
            cursor.execute("SELECT count(*) FROM memory_memoryevent")
            assert cursor.fetchone() == (0,)


def test_an_episode_of_another_labs_participant_is_refused(
    participant: Participant, other_lab: Any
) -> None:
    stranger = new_participant(other_lab)
    smuggled = episode(stranger, "smuggled", lab_id=participant.lab_id)
    with lab_scope(participant.lab_id), connection.cursor() as cursor:
        Episode.objects.bulk_create([smuggled])
        with pytest.raises(IntegrityError, match="lab_fk"), transaction.atomic():
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        Episode.objects.all().delete()


def test_times_are_those_of_the_study(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        Episode.objects.encode([episode(participant, "timed")], now=START)
        event = MemoryEvent.objects.get()
    assert event.study_at == START
    assert isinstance(event.wall_at, datetime)
    assert event.wall_at != START
