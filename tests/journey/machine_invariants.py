"""What must hold of the rows of a participation, whatever happened."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.journey.machine_rows import Rows
from tests.journey.machine_study import (
    FINISH_HOURS,
    GAP_HOURS,
    PLACES,
    STAGES,
    WINDOW_HOURS,
)

HOUR = timedelta(hours=1)
#: Withdrawals after which nothing may be stored any more.
FINAL = ("all", "anonymise", "erase")
#: States from which time alone leads nowhere, so that no stage can be lost any more.
OVER = ("ineligible", "screened", "declined", "withdrawn", "complete")


@dataclass
class History:
    """What earlier looks saw and a later one can't any more."""

    complete: set[tuple[str, str]] = field(default_factory=set)  # (code, stage)
    marks_at_end: dict[int, set[tuple[str, str]]] = field(default_factory=dict)
    known_by: dict[int, set[str]] = field(default_factory=dict)  # digests of recruiters' ids
    removed: set[str] = field(default_factory=set)  # of those whose data were removed


def check(rows: Rows, history: History) -> None:
    """Everything that must hold now. Raises AssertionError with what doesn't."""
    for pk, person in rows.people.items():
        sessions = rows.sessions[pk]
        _agreed_before_talking(person, sessions, rows)
        _stages_in_their_time(person, sessions, rows)
        _drawn_once_and_not_early(sessions, rows.allocations[pk])
        _complete_means_answered(sessions, rows.responses[pk])
        _lost_is_not_complete(sessions, rows.marks[pk])
        _left_is_left(person, sessions, rows)
        _nothing_lost_after_the_end(person, rows.marks[pk], history)
    for pk, shell in rows.shells.items():
        assert shell["state"] == "withdrawn", shell
        assert not rows.sessions[pk], "An erased participant has sessions."
        assert not rows.responses[pk], "An erased participant has responses."
        assert len(rows.allocations[pk]) <= 1, "An erased participant was drawn twice."
    _one_participant_an_id(rows, history)
    _paid_once_for_what_is_complete(rows, history)


def _agreed_before_talking(
    person: dict[str, Any], sessions: list[dict[str, Any]], rows: Rows
) -> None:
    consents = rows.consents[person["pk"]]
    if not sessions and not rows.responses[person["pk"]]:
        return
    assert consents.get("participation") is True, "Somebody is in who hasn't agreed."
    assert consents.get("sensitive") is True, "A consent that is needed is missing."
    assert "telemetry" in consents, "A consent wasn't asked for."
    assert person["version_id"] is not None, "No version is pinned."
    assert person["consented_at"] is not None
    for session in sessions:
        assert session["version_id"] == person["version_id"], "The session has another version."


def _stages_in_their_time(
    person: dict[str, Any], sessions: list[dict[str, Any]], rows: Rows
) -> None:
    keys = [session["stage_key"] for session in sessions]
    assert len(set(keys)) == len(keys), f"Two sessions of a stage: {keys}"
    assert keys == sorted(keys), f"Stages out of their order: {keys}"
    assert [session["number"] for session in sessions] == list(range(1, len(keys) + 1))
    of = {session["stage_key"]: session for session in sessions}
    lost = {mark["stage_key"]: mark["at"] for mark in rows.marks[person["pk"]]}
    before: datetime | None = person["consented_at"]
    for key in STAGES:
        session = of.get(key)
        if session is not None:
            assert before is not None, f"{key} began while the stage before it was under way."
            opens = before + GAP_HOURS * HOUR
            ends = max(
                [opens + WINDOW_HOURS * HOUR]
                + [row["until"] for row in rows.extensions[person["pk"]] if row["stage_key"] == key]
            )
            assert opens <= session["started_at"], f"{key} began before its gap had passed."
            late = session["started_at"] - ends - FINISH_HOURS * HOUR
            assert late < timedelta(), f"{key} began {late} after its time."
        before = session["ended_at"] if session is not None else lost.get(key)


def _drawn_once_and_not_early(
    sessions: list[dict[str, Any]], allocations: list[dict[str, Any]]
) -> None:
    assert len(allocations) <= 1, "An arm was drawn twice."
    active = [session for session in sessions if session["manipulation"]]
    assert bool(active) == bool(allocations), (active, allocations)
    if active:
        assert allocations[0]["study_at"] == active[0]["started_at"], "Drawn at another time."


def _complete_means_answered(
    sessions: list[dict[str, Any]], responses: list[dict[str, Any]]
) -> None:
    for session in sessions:
        if session["state"] == "complete":
            key = session["stage_key"]
            assert not missing_of(responses, [p for p in PLACES if p[1] == key]), (
                f"{key} is complete and not everything is answered."
            )


def missing_of(
    responses: list[dict[str, Any]], places: list[tuple[str, str, int]]
) -> set[tuple[str, str, int]]:
    """The places at which nothing complete is stored."""
    done = {
        (row["moment"], row["stage_key"], row["position"])
        for row in responses
        if row["state"] == "complete"
    }
    return set(places) - done


def _lost_is_not_complete(sessions: list[dict[str, Any]], marks: list[dict[str, Any]]) -> None:
    complete = {s["stage_key"] for s in sessions if s["state"] == "complete"}
    had = {session["stage_key"] for session in sessions}
    for mark in marks:
        assert mark["stage_key"] not in complete, f"Complete and lost: {mark}"
        assert mark["lost"] == "lapsed" or mark["stage_key"] not in had, f"Begun: {mark}"


def _left_is_left(person: dict[str, Any], sessions: list[dict[str, Any]], rows: Rows) -> None:
    """Nothing is stored after a withdrawal but what its kind permits: who has left the
    conversations alone may still answer."""
    asked = rows.withdrawals[person["pk"]]
    if not asked:
        return
    left = min(row["requested_wall"] for row in asked)
    for session in sessions:
        for message in rows.messages[session["pk"]]:
            assert message["recorded_at"] <= left, "A message was stored after the withdrawal."
        assert session["state"] not in ("open", "closing"), "A conversation went on."
    final = [row for row in asked if row["kind"] in FINAL]
    if not final:
        return
    assert person["state"] == "withdrawn", person["state"]
    at = min(row["requested_at"] for row in final)
    assert all(session["started_at"] <= at for session in sessions), "A stage after withdrawal."
    for response in rows.responses[person["pk"]]:
        assert response["started_at"] <= at, "Something was asked after the withdrawal."
        for given in response["answers"]:
            assert given <= at, "An answer was stored after the withdrawal."


def _nothing_lost_after_the_end(
    person: dict[str, Any], marks: list[dict[str, Any]], history: History
) -> None:
    """Who isn't in the study any more misses nothing: a mark would say that they stayed away."""
    pk = person["pk"]
    if person["state"] not in OVER:
        history.marks_at_end.pop(pk, None)
        return
    now = {(mark["stage_key"], mark["lost"]) for mark in marks}
    before = history.marks_at_end.setdefault(pk, now)
    assert now == before, f"Lost after the end ({person['state']}): {now - before}"


def _one_participant_an_id(rows: Rows, history: History) -> None:
    held: Counter[str] = Counter()
    for pk, person in rows.people.items():
        digests = rows.identifiers.get(pk, [])
        expected = 0 if person["anonymised_at"] is not None else 1
        assert len(digests) == expected, f"{person['code']} is known by {len(digests)} ids."
        held.update(digests)
    assert all(count == 1 for count in held.values()), "Two participants have one id."
    for pk in list(history.known_by):
        if pk not in rows.people or rows.people[pk]["anonymised_at"] is not None:
            history.removed |= history.known_by.pop(pk)
    for pk, digests in rows.identifiers.items():
        history.known_by[pk] = set(digests)
    back = history.removed & set(held)
    assert not back, "Somebody is here again who had their data removed."


def _paid_once_for_what_is_complete(rows: Rows, history: History) -> None:
    code_of = {pk: person["code"] for pk, person in rows.people.items()}
    for pk, person in rows.people.items():
        if person["anonymised_at"] is None:
            history.complete |= {
                (person["code"], session["stage_key"])
                for session in rows.sessions[pk]
                if session["state"] == "complete"
            }
    paid = Counter((row["code"], row["stage_key"]) for row in rows.payments)
    assert all(count == 1 for count in paid.values()), f"Paid more than once: {paid}"
    assert set(paid) == history.complete, (
        f"Paid without being complete: {set(paid) - history.complete}; "
        f"complete and not paid: {history.complete - set(paid)}"
    )
    by_person = Counter(
        (row["participant_id"], row["stage_key"]) for row in rows.payments if row["participant_id"]
    )
    assert all(count == 1 for count in by_person.values()), f"Paid more than once: {by_person}"
    for row in rows.payments:
        if row["participant_id"] is not None:
            assert row["code"] == code_of[row["participant_id"]], "Paid under another's code."


def may_see(rows: Rows, person: dict[str, Any], outcome: str, stage: str) -> bool:
    """Whether everything is stored that a code stands for, row by row."""
    sessions = {row["stage_key"]: row["state"] for row in rows.sessions[person["pk"]]}
    responses = rows.responses[person["pk"]]
    if stage:
        places = [place for place in PLACES if place[1] == stage]
        return sessions.get(stage) == "complete" and not missing_of(responses, places)
    if outcome == "complete":
        everywhere = [place for place in PLACES if place[0] != "debriefing"]
        done = all(sessions.get(key) == "complete" for key in STAGES)
        return person["state"] == "complete" and done and not missing_of(responses, everywhere)
    if outcome == "withdrawn":
        over = not {"open", "closing"} & set(sessions.values())
        return person["state"] == "withdrawn" and over
    states = {"screened_out": ("screened", "ineligible"), "declined": ("declined",)}[outcome]
    return person["state"] in states
