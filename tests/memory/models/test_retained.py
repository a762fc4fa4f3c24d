from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.models import Lab, Participant
from memlab.core.tenancy import lab_scope
from memory.enums import Cause, EventKind, RetentionUnit, Shelf
from memory.models import MemoryEvent, RetainedItem
from memory.models.retained import Worded
from memory.models.retention_rule import Point, Retention
from tests.memory.conftest import new_participant
from tests.memory.dialogue import START, identified
from tests.memory.items import item

pytestmark = pytest.mark.django_db

DAYS = Retention()
TURNS = Retention(time_unit=RetentionUnit.TURNS)
NEW = {"importance", "stage_key", "session_number", "encoded_at", "embedder"}


def day(days: float, turn: int = 1) -> Point:
    return Point(at=START + timedelta(days=days), turn=turn)


def store(*rows: RetainedItem) -> None:
    RetainedItem.objects.encode(rows, now=START, reply=identified("first reply"))


def replayed(events: Iterable[MemoryEvent]) -> dict[str, Any]:
    """What a log says an item is now; each ``before`` must be what was so far."""
    so_far: dict[str, Any] = {}
    for event in events:
        before = event.before or {}
        assert before == {name: so_far.get(name) for name in before}
        so_far |= event.after or {}
    return so_far


def state(row: RetainedItem) -> dict[str, Any]:
    return replayed(MemoryEvent.objects.of_memory(row.pk))


def history(row: RetainedItem) -> list[tuple[str, datetime]]:
    return [(each.event, each.study_at) for each in MemoryEvent.objects.of_memory(row.pk)]


@pytest.mark.parametrize(
    ("importance", "hits", "days"), [(0.9, 0, 15), (0.2, 0, 1), (0.9, 2, 51), (0.1, 0, 0)]
)
def test_an_item_leaves_at_its_exact_moment(
    participant: Participant, importance: float, hits: int, days: int
) -> None:
    with lab_scope(participant.lab_id):
        row = item(participant, "tea", importance=importance, hits=hits)
        moment = START + timedelta(days=days)
        assert row.archive_at == moment
        store(row)
        if days:
            before = Point(at=moment - timedelta(microseconds=1), turn=99)
            assert RetainedItem.objects.archive_due(before) == 0
            assert RetainedItem.objects.at_hand(before).count() == 1
        assert RetainedItem.objects.at_hand(Point(at=moment, turn=1)).count() == 0
        assert RetainedItem.objects.archive_due(day(days + 14)) == 1
        left = RetainedItem.objects.get()
        assert (left.state, left.archived_at) == (Shelf.ARCHIVED, moment)
        assert history(row)[-1] == (EventKind.ARCHIVED, moment)


@pytest.mark.parametrize(
    ("importance", "hits", "turn"), [(0.9, 0, 16), (0.2, 0, 2), (0.9, 2, 52), (0.22, 0, 3)]
)
def test_an_item_leaves_after_its_exact_turn(
    participant: Participant, importance: float, hits: int, turn: int
) -> None:
    with lab_scope(participant.lab_id):
        row = item(participant, "tea", importance=importance, hits=hits, retention=TURNS)
        assert (row.archive_at, row.archive_turn) == (None, turn)
        store(row)
        assert RetainedItem.objects.archive_due(day(500, turn - 1)) == 0
        assert RetainedItem.objects.archive_due(day(500, turn)) == 1
        assert RetainedItem.objects.get().archived_at == day(500).at


@pytest.mark.parametrize("rule", [DAYS, TURNS, Retention(rate=0.0)])
def test_the_best_come_first_by_the_score_that_each_has(
    participant: Participant, rule: Retention
) -> None:
    here = day(3.3, turn=4)
    with lab_scope(participant.lab_id):
        rows = [
            item(
                participant,
                f"tea {number}",
                importance=number % 5 / 7,
                hits=number % 3,
                # Some of them alike, and some accessed after the moment that is asked about.
                anchor=day(number % 7).at,
                anchor_turn=number % 7,
                retention=rule,
            )
            for number in range(60)
        ]
        store(*rows)
        ordered = sorted(
            rows,
            key=lambda row: (-row.score(retention=rule, now=here), -row.anchor.timestamp(), row.pk),
        )
        best = RetainedItem.objects.all().best_first(rule, here)
        assert [row.pk for row in best] == [row.pk for row in ordered]
        scores = [row.score(retention=rule, now=here) for row in ordered]
        assert [row.present_score for row in best] == pytest.approx(scores)  # type: ignore[attr-defined]


@pytest.mark.parametrize("unit", list(RetentionUnit))
def test_without_a_rate_nothing_ever_leaves(participant: Participant, unit: RetentionUnit) -> None:
    forever = Retention(rate=0.0, time_unit=unit)
    with lab_scope(participant.lab_id):
        store(item(participant, "tea", retention=forever))
        assert RetainedItem.objects.archive_due(day(100_000, 1_000_000_000)) == 0
        assert RetainedItem.objects.next_leaving() is None


def test_a_hit_starts_the_time_anew(participant: Participant) -> None:
    reply = identified("reply")
    with lab_scope(participant.lab_id):
        row = item(participant, "tea")
        store(row)
        for _twice in range(2):
            RetainedItem.objects.touch([row.pk], retention=DAYS, now=day(10, 4), reply=reply)
        hit = RetainedItem.objects.get()
        assert (hit.hits, hit.anchor, hit.anchor_turn) == (1, day(10).at, 4)
        assert hit.archive_at == day(10 + 33).at  # (0.9 × 2 − 0.15) / 0.05
        assert hit.score(retention=DAYS, now=day(20)) == pytest.approx(1.8 - 0.5)
        assert history(row)[1:] == [(EventKind.RECALLED, day(10).at)]


def test_an_archived_item_wakes(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = item(participant, "tea", importance=0.2)
        store(row)
        RetainedItem.objects.archive_due(day(7))
        RetainedItem.objects.touch([row.pk], retention=DAYS, now=day(7), reply=identified("reply"))
        awake = RetainedItem.objects.get()
        assert (awake.state, awake.archived_at, awake.hits) == (Shelf.WORKING, None, 1)
        assert awake.archive_at == day(7 + 5).at  # (0.2 × 2 − 0.15) / 0.05
        assert [kind for kind, _at in history(row)] == ["encoded", "archived", "woken"]
        assert state(row) == awake.present() | {name: state(row)[name] for name in NEW}


def test_what_is_said_again_takes_the_newest_wording(participant: Participant) -> None:
    again = Worded(text="No more tea", keywords=["coffee"], vector=np.array([0, 1], np.float32))
    with lab_scope(participant.lab_id):
        row = item(participant, "Tea, please", keywords=["tea"])
        store(row)
        RetainedItem.objects.restate(
            row.pk,
            again,
            message=identified("second"),
            access=DAYS,
            now=day(3),
            reply=identified("reply"),
        )
        said = RetainedItem.objects.get()
        assert (said.text, said.keywords, said.hits) == ("No more tea", ["coffee", "tea"], 1)
        assert list(said.vector) == [0.0, 1.0]
        assert said.keyword_words == ["coffe", "tea"]
        assert said.message_ids == [*row.message_ids, identified("second")]
        event = MemoryEvent.objects.of_memory(row.pk).last()
        assert event is not None
        assert (event.event, event.cause) == (EventKind.MENTIONED, Cause.MENTION)
        assert (event.before or {})["text"] == "Tea, please"


def test_saying_it_again_wakes_too_but_never_before_it_slept(participant: Participant) -> None:
    again = Worded(text="Tea", keywords=[], vector=np.array([1, 0], np.float32))
    with lab_scope(participant.lab_id):
        row = item(participant, "tea", importance=0.2)
        store(row)
        RetainedItem.objects.archive_due(day(2))
        RetainedItem.objects.restate(
            row.pk,
            again,
            message=identified("second"),
            access=DAYS,
            now=day(0.5),  # said while it was at hand, stored when it had just left
            reply=identified("reply"),
        )
        assert history(row)[-1] == (EventKind.WOKEN, day(1).at)
        assert RetainedItem.objects.get().anchor == day(1).at


def test_an_offer_for_rehearsal_is_no_hit(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = item(participant, "tea")
        store(row)
        for _twice in range(2):
            RetainedItem.objects.rehearse(row.pk, at=day(14).at, reply=identified("reply"))
        offered = RetainedItem.objects.get()
        assert (offered.rehearsals, offered.rehearsed_at) == (1, day(14).at)
        assert (offered.hits, offered.archive_at) == (0, day(15).at)
        assert history(row)[1:] == [(EventKind.REHEARSED, day(14).at)]


def written(rows: list[RetainedItem]) -> list[str]:
    """The transaction that last wrote each row."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT xmin::text || ctid::text FROM memory_retaineditem"
            " WHERE id = ANY(%s) ORDER BY id",
            [[row.pk for row in rows]],
        )
        return [each for (each,) in cursor.fetchall()]


def test_archiving_is_set_based_and_writes_no_row_that_stays(participant: Participant) -> None:
    counts = []
    with lab_scope(participant.lab_id):
        staying = [item(participant, f"stays {n}") for n in range(50)]
        store(*staying)
        before = written(staying)
        for size in (1, 40):
            store(*(item(participant, f"{size}/{n}", importance=0.2) for n in range(size)))
            with CaptureQueriesContext(connection) as statements:
                assert RetainedItem.objects.archive_due(day(3)) == size
            counts.append(len(statements))
        with CaptureQueriesContext(connection) as nothing_due:
            assert RetainedItem.objects.archive_due(day(3)) == 0
        assert written(staying) == before
    assert counts == [3, 3]  # the due rows, their new state, their events
    assert len(nothing_due) == 1


def test_a_late_run_archives_each_at_its_own_moment_and_in_order(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(*(item(participant, f"item {n}", importance=n / 10) for n in (9, 2, 5)))
        RetainedItem.objects.archive_due(day(100))
        events = MemoryEvent.objects.filter(event=EventKind.ARCHIVED)
        assert [each.study_at for each in events] == [day(1).at, day(7).at, day(15).at]


def test_what_leaves_soon(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(*(item(participant, f"item {n}", importance=n / 10) for n in (9, 2, 5)))
        leaving = RetainedItem.objects.about_to_leave(day(5), within=3)
        assert [row.text for row in leaving] == ["item 5"]  # item 2 has left already
        assert RetainedItem.objects.next_leaving() == day(1).at


def test_a_state_without_its_moment_is_refused(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        store(item(participant, "tea"))
        with pytest.raises(IntegrityError, match="archived_since"), transaction.atomic():
            RetainedItem.objects.update(state=Shelf.ARCHIVED)


def test_another_lab_sees_no_items(participant: Participant, other_lab: Lab) -> None:
    with lab_scope(participant.lab_id):
        store(item(participant, "canary"))
    new_participant(other_lab)
    with lab_scope(other_lab.pk):
        assert RetainedItem.objects.count() == 0
        assert RetainedItem.objects.archive_due(day(1000)) == 0


# A life: which of three items is touched, said again or offered, and how many days go by before.
acts = st.lists(
    st.tuples(
        st.sampled_from(["touch", "restate", "rehearse", "maintain"]),
        st.integers(0, 2),
        st.floats(0, 20),
    ),
    max_size=8,
)


def live(participant: Participant, life: list[tuple[str, int, float]], *, maintained: str) -> Any:
    """Rows and events after a life, in which maintenance is punctual, doubled, or missed until
    something touches a row."""
    again = Worded(text="said again", keywords=["again"], vector=np.array([0, 1], np.float32))
    with lab_scope(participant.lab_id), transaction.atomic():
        rows = [item(participant, f"item {n}", importance=(n + 1) / 5) for n in range(3)]
        store(*rows)
        now = START
        for number, (act, which, days) in enumerate(life):
            now += timedelta(days=days)
            here, reply = Point(at=now, turn=number + 1), identified(f"reply {number}")
            if act == "maintain" and maintained == "missed":
                continue
            while maintained != "missed":
                due = RetainedItem.objects.next_leaving()
                if due is None or due > now:
                    break
                for _run in range(2 if maintained == "doubled" else 1):
                    RetainedItem.objects.archive_due(Point(at=due, turn=number + 1))
            RetainedItem.objects.archive_due(here)
            target = rows[which].pk
            if act == "touch":
                RetainedItem.objects.touch([target], retention=DAYS, now=here, reply=reply)
            elif act == "restate":
                RetainedItem.objects.restate(
                    target, again, message=reply, access=DAYS, now=here, reply=reply
                )
            elif act == "rehearse":
                RetainedItem.objects.rehearse(target, at=now, reply=reply)
        RetainedItem.objects.archive_due(Point(at=now, turn=len(life)))
        stored = {row.pk: row for row in RetainedItem.objects.all()}
        events = list(MemoryEvent.objects.order_by("pk"))
        left = []
        for row in rows:
            own = [event for event in events if event.memory_id == row.pk]
            present, log = stored[row.pk].present(), replayed(own)
            assert log == present | {name: log[name] for name in NEW}
            left.append((present, [(event.event, event.study_at) for event in own]))
        transaction.set_rollback(True)
    return left


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts)
def test_the_log_replays_to_the_present_and_a_missed_fortnight_changes_nothing(
    participant: Participant, life: list[tuple[str, int, float]]
) -> None:
    punctual = live(participant, life, maintained="punctual")
    assert live(participant, life, maintained="doubled") == punctual
    assert live(participant, life, maintained="missed") == punctual
