"""The bins keep within their room, and their events say all that happened."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.models import Participant
from memlab.core.tenancy import lab_scope
from memory.enums import Bin, EventKind
from memory.models import BinnedItem, MemoryEvent
from memory.models.binned import Ingested
from tests.memory.dialogue import START, identified
from tests.memory.test_binned_search import item

pytestmark = pytest.mark.django_db

ROOM = {Bin.FACT: 2, Bin.RELATION: 2, Bin.AFFECT: 2, Bin.STYLE: 1}


def ingest(
    participant: Participant, *items: BinnedItem, turn: int = 1, room: dict[Bin, int] = ROOM
) -> Ingested:
    return BinnedItem.objects.ingest(
        items,
        participant_id=participant.pk,
        capacity=room,
        now=START + timedelta(minutes=turn),
        reply=identified(f"reply {turn}"),
    )


def stored(participant: Participant, bin_: Bin) -> list[str]:
    rows = BinnedItem.objects.of_participant(participant.pk).filter(bin=bin_)
    return sorted(rows.values_list("text", flat=True))


def replayed(memory: UUID) -> dict[str, Any] | None:
    """What the log says a memory is now; None for one that is gone."""
    state: dict[str, Any] | None = None
    for event in MemoryEvent.objects.of_memory(memory):
        if event.event == EventKind.REFUSED:
            continue
        before = event.before or {}
        assert before == {name: (state or {}).get(name) for name in before}
        state = None if event.after is None else (state or {}) | event.after
    return state


def assert_events_tell_the_rows(participant: Participant) -> None:
    """Every row's present state equals the replay of its events, and what is gone is gone."""
    rows = {row.pk: row.written() for row in BinnedItem.objects.of_participant(participant.pk)}
    logged = MemoryEvent.objects.filter(participant=participant, memory_kind="binned")
    for memory in set(logged.values_list("memory_id", flat=True)):
        assert replayed(memory) == rows.get(memory)
    assert set(rows) <= set(logged.values_list("memory_id", flat=True))


def kinds(participant: Participant) -> list[str]:
    events = MemoryEvent.objects.filter(participant=participant).order_by("pk")
    return [str(event) for event in events.values_list("event", flat=True)]


def test_a_full_bin_of_facts_refuses_a_new_one_with_an_event(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        facts = [item(participant, f"fact {n}", importance=0.1 * n) for n in range(3)]
        done = ingest(participant, *facts)
        assert done == Ingested(written={"fact": 2}, dropped={"refused": 1})
        assert stored(participant, Bin.FACT) == ["fact 0", "fact 1"]
        refused = MemoryEvent.objects.get(event=EventKind.REFUSED)
        assert refused.memory_id == identified("fact 2")
        assert refused.note == {"bin": "fact", "text": "fact 2"}
        assert_events_tell_the_rows(participant)


def test_other_bins_give_up_what_is_least_important(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        done = [
            ingest(
                participant,
                item(participant, f"relation {turn}", bin_=Bin.RELATION, importance=importance),
                turn=turn,
            )
            for turn, importance in enumerate((0.5, 0.3, 0.4, 0.2), start=1)
        ]
        assert done[-1].dropped == {"evicted": 1}  # the last one itself
        assert stored(participant, Bin.RELATION) == ["relation 1", "relation 3"]
        assert kinds(participant).count(EventKind.EVICTED) == 2
        assert_events_tell_the_rows(participant)


def test_of_equals_the_oldest_goes(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        for days in (1, 3, 2):
            ingest(
                participant,
                item(participant, f"{days} days old", bin_=Bin.AFFECT, days_ago=days),
                turn=days,
            )
        assert stored(participant, Bin.AFFECT) == ["1 days old", "2 days old"]


@given(
    offers=st.lists(
        st.lists(
            st.tuples(st.sampled_from(list(Bin)), st.integers(0, 9), st.floats(0, 1)), max_size=3
        ),
        max_size=4,
    )
)
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_capacity_never_drops_a_fact(
    participant: Participant, offers: list[list[tuple[Bin, int, float]]]
) -> None:
    with lab_scope(participant.lab_id):
        BinnedItem.objects.all().delete()
        facts: set[str] = set()
        start = MemoryEvent.objects.count()
        for turn, offered in enumerate(offers):
            rows = [
                item(participant, f"{start} {bin_} {n}", bin_=bin_, importance=importance)
                for bin_, n, importance in offered
            ]
            BinnedItem.objects.ingest(
                rows,
                participant_id=participant.pk,
                capacity=ROOM,
                now=START,
                reply=identified(f"{start} reply {turn}"),
            )
            now = set(stored(participant, Bin.FACT))
            assert facts <= now
            facts = now
            for bin_ in Bin:
                assert len(stored(participant, bin_)) <= ROOM[bin_]
        gone = MemoryEvent.objects.filter(event__in=[EventKind.EVICTED, EventKind.EXPIRED])
        assert all((event.before or {})["bin"] != "fact" for event in gone)


def test_a_fact_is_never_evicted_whoever_asks(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        fact = item(participant, "fact")
        ingest(participant, fact)
        with pytest.raises(ValueError, match="never given up"):
            BinnedItem.objects.evict([fact], now=START, reply=identified("reply"))
        assert stored(participant, Bin.FACT) == ["fact"]


def test_what_is_said_again_is_renewed_but_a_fact_stays(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        done: list[Ingested] = []
        for turn, importance in ((1, 0.9), (2, 0.4)):
            again: dict[str, Any] = {
                "importance": importance,
                "days_ago": 10.0 - turn,
                "message_ids": [identified(f"message {turn}")],
                "log_id": identified(f"log {turn}"),
            }
            offered = (
                item(participant, "fact", **again),
                item(participant, "relation", bin_=Bin.RELATION, **again),
            )
            done.append(ingest(participant, *offered, turn=turn))
        assert done[-1] == Ingested(written={}, dropped={"known": 1})
        fact = BinnedItem.objects.get(bin=Bin.FACT)
        relation = BinnedItem.objects.get(bin=Bin.RELATION)
        assert fact.at == START - timedelta(days=9)
        assert (relation.at, relation.importance) == (START - timedelta(days=8), 0.9)
        assert relation.log_id == identified("log 2")
        assert relation.message_ids == [identified("message 1"), identified("message 2")]
        assert kinds(participant) == ["encoded", "encoded", "mentioned"]
        assert_events_tell_the_rows(participant)


def test_a_style_expires_at_its_own_moment(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        room = ROOM | {Bin.STYLE: 9}
        for days in (1, 2):
            style = item(
                participant,
                f"style {days}",
                bin_=Bin.STYLE,
                expires_at=START + timedelta(days=days),
            )
            ingest(participant, style, turn=days, room=room)
        moment = START + timedelta(days=1)
        before = moment - timedelta(microseconds=1)
        expire = BinnedItem.objects.expire
        assert expire(participant_id=participant.pk, now=before) == 0
        assert expire(participant_id=participant.pk, now=moment) == 1
        assert expire(participant_id=participant.pk, now=moment) == 0
        assert stored(participant, Bin.STYLE) == ["style 2"]
        assert MemoryEvent.objects.get(event=EventKind.EXPIRED).study_at == moment
        assert_events_tell_the_rows(participant)


def test_an_item_is_exported_in_the_protocols_terms(participant: Participant) -> None:
    row = item(participant, "doesn't like questions", bin_=Bin.RELATION, cosine=0.0)
    assert row.as_json() == {
        "id": str(row.pk),
        "category": "relation",
        "content": "doesn't like questions",
        "importance": 0.5,
        "timestamp": "2027-03-01T10:00:00+00:00",
        "stateSnapshot": {"hSocial": 0.5, "hEnergy": 1.0, "da": 0.5, "ne": 0.3, "ht": 0.6},
        "rpe": 0.5,
        "embedding": [0.0, 1.0],
    }
