"""Each of the machine's invariants fails where what it forbids is in the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.journey.machine_invariants import History, check
from tests.journey.machine_rows import Rows
from tests.journey.machine_study import PLACES, STAGES

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
FIRST = STAGES[0]


def sound() -> Rows:
    """One participant, known by one id, who has completed the first stage and been paid for it."""
    session = {
        "pk": "s1",
        "participant_id": 1,
        "stage_key": FIRST,
        "state": "complete",
        "number": 1,
        "manipulation": False,
        "version_id": 7,
        "started_at": START + 13 * HOUR,
        "ended_at": START + 14 * HOUR,
    }
    answered = [place for place in PLACES if place[1] in ("", FIRST) and place[0] != "debriefing"]
    return Rows(
        people={
            1: {
                "pk": 1,
                "public_id": "a",
                "code": "ABC",
                "state": "active",
                "version_id": 7,
                "consented_at": START,
                "erased_on": None,
                "anonymised_at": None,
                "paused_at": None,
            }
        },
        shells={},
        sessions=defaultdict(list, {1: [session]}),
        messages=defaultdict(
            list, {"s1": [{"session_id": "s1", "recorded_at": START + 13 * HOUR}]}
        ),
        consents=defaultdict(
            dict, {1: {"participation": True, "sensitive": True, "telemetry": False}}
        ),
        allocations=defaultdict(list),
        responses=defaultdict(
            list,
            {
                1: [
                    {
                        "moment": moment,
                        "stage_key": stage,
                        "position": position,
                        "state": "complete",
                        "started_at": START,
                        "answers": [START + 13 * HOUR],
                    }
                    for moment, stage, position in answered
                ]
            },
        ),
        marks=defaultdict(list),
        extensions=defaultdict(list),
        withdrawals=defaultdict(list),
        identifiers=defaultdict(list, {1: ["digest"]}),
        payments=[{"participant_id": 1, "code": "ABC", "stage_key": FIRST}],
    )


def withdrawn(rows: Rows) -> None:
    rows.people[1]["state"] = "withdrawn"
    at = START + 20 * HOUR
    rows.withdrawals[1].append({"kind": "all", "requested_at": at, "requested_wall": at})


def without_consent(rows: Rows) -> None:
    del rows.consents[1]["participation"]


def without_version(rows: Rows) -> None:
    rows.people[1]["version_id"] = None


def twice_in_a_stage(rows: Rows) -> None:
    rows.sessions[1].append({**rows.sessions[1][0], "pk": "s2", "number": 2})


def before_the_gap(rows: Rows) -> None:
    early = {**rows.sessions[1][0], "pk": "s2", "number": 2, "stage_key": STAGES[1]}
    rows.sessions[1].append({**early, "started_at": START + 15 * HOUR, "state": "ended"})


def drawn_too_early(rows: Rows) -> None:
    rows.allocations[1].append({"study_at": START})


def drawn_twice(rows: Rows) -> None:
    rows.allocations[1] += [{"study_at": START}, {"study_at": START}]


def unanswered(rows: Rows) -> None:
    rows.responses[1] = [row for row in rows.responses[1] if row["stage_key"] != FIRST]


def complete_and_lost(rows: Rows) -> None:
    rows.marks[1].append({"stage_key": FIRST, "lost": "lapsed", "at": START})


def said_after_withdrawal(rows: Rows) -> None:
    withdrawn(rows)
    rows.messages["s1"].append({"session_id": "s1", "recorded_at": START + 21 * HOUR})


def answered_after_withdrawal(rows: Rows) -> None:
    withdrawn(rows)
    rows.responses[1][0]["answers"].append(START + 21 * HOUR)


def a_second_participant(rows: Rows) -> None:
    rows.people[2] = {**rows.people[1], "pk": 2, "code": "DEF", "state": "invited"}
    rows.identifiers[2] = ["digest"]


def paid_twice(rows: Rows) -> None:
    rows.payments.append(dict(rows.payments[0]))


def paid_too_early(rows: Rows) -> None:
    rows.sessions[1][0]["state"] = "ended"


def not_paid(rows: Rows) -> None:
    rows.payments.clear()


def test_sound_rows_are_in_order() -> None:
    check(sound(), History())


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (without_consent, "hasn't agreed"),
        (without_version, "No version is pinned"),
        (twice_in_a_stage, "Two sessions of a stage"),
        (before_the_gap, "before its gap had passed"),
        (drawn_too_early, "study_at"),
        (drawn_twice, "drawn twice"),
        (unanswered, "not everything is answered"),
        (complete_and_lost, "Complete and lost"),
        (said_after_withdrawal, "message was stored after the withdrawal"),
        (answered_after_withdrawal, "answer was stored after the withdrawal"),
        (a_second_participant, "Two participants have one id"),
        (paid_twice, "Paid more than once"),
        (paid_too_early, "Paid without being complete"),
        (not_paid, "complete and not paid"),
    ],
)
def test_what_is_forbidden_is_found(broken: Callable[[Rows], None], told: str) -> None:
    rows = sound()
    broken(rows)
    with pytest.raises(AssertionError, match=told):
        check(rows, History())


def test_whoever_comes_back_after_an_erasure_is_found() -> None:
    history, rows = History(), sound()
    check(rows, history)
    gone = sound()
    gone.people.clear()
    gone.identifiers.clear()
    gone.payments[0]["participant_id"] = None
    check(gone, history)
    rows.people[3] = {**rows.people.pop(1), "pk": 3, "state": "invited"}
    back = Rows(**{**vars(gone), "people": rows.people, "identifiers": {3: ["digest"]}})
    with pytest.raises(AssertionError, match="here again who had their data removed"):
        check(back, history)
