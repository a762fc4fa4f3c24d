"""A stage is complete once, with everything that belongs to it, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from threading import Barrier, Thread

import pytest
from django.db import connection

from chat import sessions
from chat.safety import pauses
from experiments.enums import Closed, Moment, ParticipantState, WithdrawalKind, WithdrawnBy
from experiments.models import Lab, Participant, Payment, Session
from experiments.schedule import Standing
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memlab.journey import debriefing, reminders, stages, windows
from memlab.journey.stages import conclusion
from memlab.journey.withdrawing import withdraw
from tests.journey.walking import DAY, HOUR, START, Walker, make_way

DONE, LATER, OPEN = Standing.DONE, Standing.LATER, Standing.OPEN
MISSED, LAPSED, FORGONE = Standing.MISSED, Standing.LAPSED, Standing.FORGONE


@pytest.mark.parametrize(
    ("standings", "all_complete", "end"),
    [
        ([], True, None),
        ([DONE, DONE], True, "complete"),
        ([DONE, LATER], False, None),
        ([DONE, OPEN], False, None),
        ([MISSED, Standing.IN_PROGRESS], False, None),
        ([MISSED, LATER], False, None),
        ([MISSED, DONE], False, "dropped"),
        ([DONE, LAPSED], False, "dropped"),
        ([DONE, MISSED, FORGONE], False, "dropped"),
        ([DONE, DONE], False, "dropped"),  # a conversation that ended, without its questionnaires
    ],
)
def test_how_a_participation_ends(
    standings: list[Standing], all_complete: bool, end: str | None
) -> None:
    assert conclusion(standings, all_complete=all_complete) == end


def payments(lab: Lab) -> list[tuple[str, Decimal]]:
    with lab_scope(lab.pk):
        return list(Payment.objects.order_by("pk").values_list("stage_key", "amount"))


def test_a_stage_waits_for_its_questionnaires(lab: Lab) -> None:
    walker = Walker(make_way(lab, asks=((Moment.AFTER, "T1"),), stages={"payment": "5"}))
    assert not walker.complete("T1")
    assert walker.session_states() == [("T1", "ended")]
    assert payments(lab) == []
    walker.next_page()
    assert walker.answer() == 1
    with lab_scope(lab.pk):
        session = Session.objects.get()
        assert stages.complete_stage(session, wall=START)
        assert stages.complete_stage(session, wall=START)
    assert walker.session_states() == [("T1", "complete")]
    assert payments(lab) == [("T1", Decimal("5.00"))]


def test_only_somebody_who_goes_there_begins_a_stage(lab: Lab) -> None:
    walker = Walker(make_way(lab))
    address = "/journey/stage/T1/"
    assert walker.client.head(address).status_code == 405
    ahead = walker.client.get(address, headers={"sec-purpose": "prefetch;prerender"})
    assert ahead.status_code == 503
    assert walker.session_states() == []
    assert walker.client.get(address).status_code == 302
    assert walker.session_states() == [("T1", "open")]


def test_both_stages_complete_end_the_study(lab: Lab) -> None:
    walker = Walker(make_way(lab, stages={"payment": "5"}))
    assert walker.complete("T1")
    assert walker.state() == "active"
    walker.at(DAY)
    assert walker.complete("T2")
    assert walker.state() == "complete"
    assert payments(lab) == [("T1", Decimal("5.00")), ("T2", Decimal("5.00"))]


def test_who_missed_a_stage_goes_on_and_has_dropped_out_in_the_end(lab: Lab) -> None:
    walker = Walker(make_way(lab, stages={"payment": "5"}))
    walker.at(2 * DAY + HOUR)
    walker.follow()
    assert walker.state() == "active"
    walker.at(3 * DAY + HOUR)
    assert walker.complete("T2")
    assert walker.state() == "dropped"
    assert payments(lab) == [("T2", Decimal("5.00"))]


def test_a_study_may_end_with_a_missed_stage(lab: Lab) -> None:
    walker = Walker(make_way(lab, ends_on_missed=True))
    walker.at(2 * DAY + HOUR)
    walker.follow()
    assert walker.state() == "dropped"


def test_who_answers_in_time_and_is_lost_on_the_last_step_has_finished(lab: Lab) -> None:
    """The process dies after the last answer is stored and before the stage is completed."""
    walker = Walker(make_way(lab, asks=((Moment.AFTER, "T1"),), stages={"payment": "5"}))
    walker.talk("T1")
    walker.next_page()
    walker.at(2 * DAY + HOUR)  # the window is over, not the time to finish
    walker.answer()
    walker.at(4 * DAY)
    walker.follow()
    assert walker.session_states() == [("T1", "complete")]
    assert payments(lab) == [("T1", Decimal("5.00"))]


def test_who_does_not_finish_in_time_is_paid_nothing_for_it(lab: Lab) -> None:
    walker = Walker(make_way(lab, asks=((Moment.AFTER, "T1"),), stages={"payment": "5"}))
    session = walker.talk("T1")
    walker.next_page()
    walker.at(2 * DAY + 7 * HOUR)
    assert walker.page("after", session.pk) == (302, "/journey/done/T1/")
    assert walker.session_states() == [("T1", "expired")]
    assert walker.page("done", "T1") == (302, "/journey/onward/")
    walker.answer()  # as if a late answer had slipped in
    walker.follow()
    assert walker.session_states() == [("T1", "expired")]
    assert payments(lab) == []


@pytest.mark.parametrize("state", ["withdrawn", "complete", "dropped"])
def test_nothing_is_completed_or_paid_once_it_is_over(lab: Lab, state: str) -> None:
    walker = Walker(make_way(lab, stages={"payment": "5"}))
    session = walker.talk("T1")
    with lab_scope(lab.pk):
        Participant.objects.update(state=state)
        assert not stages.complete_stage(session, wall=START)
    assert (walker.state(), payments(lab)) == (state, [])


def test_who_leaves_the_conversations_answers_what_is_left_and_is_done(lab: Lab) -> None:
    walker = Walker(make_way(lab, asks=((Moment.AFTER, "T1"),), stages={"payment": "5"}))
    walker.page("stage", "T1")
    with lab_scope(lab.pk):
        withdraw(walker.participant, WithdrawalKind.CHAT, by=WithdrawnBy.PARTICIPANT, wall=START)
    walker.next_page()
    assert walker.state() == "active"
    walker.answer()
    walker.follow()
    assert (walker.state(), payments(lab)) == ("dropped", [("T1", Decimal("5.00"))])
    assert walker.page("stage", "T2") == (302, "/journey/end/")


def test_what_follows_a_conversation_waits_as_long_as_it_was_paused(lab: Lab) -> None:
    walker = Walker(make_way(lab, asks=((Moment.AFTER, "T1"),), stages={"idle_minutes": 60000}))
    walker.page("stage", "T1")
    walker.at(HOUR)
    with lab_scope(lab.pk):
        pauses.pause(Participant.objects.get(), wall=START)
    walker.at(91 * HOUR)
    walker.follow()
    with lab_scope(lab.pk):
        pauses.resume(Participant.objects.get(), wall=START)
        sessions.close(Session.objects.get(), Closed.PARTICIPANT, at=walker.now)
    walker.follow()
    assert walker.session_states() == [("T1", "ended")]
    walker.at(143.9 * HOUR)  # 48 to begin, 6 to finish, 90 paused
    walker.follow()
    assert walker.session_states() == [("T1", "ended")]
    walker.at(144 * HOUR)
    walker.follow()
    assert walker.session_states() == [("T1", "expired")]


class OnPurpose(Exception):
    """The process dies here."""


def test_a_death_between_any_two_writes_leaves_nothing_half_done(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker = Walker(make_way(lab, stages={"payment": "5"}, debriefing="It was about memory."))
    walker.complete("T1")
    walker.at(DAY)
    session = walker.talk("T2")
    before = walker.session_states(), payments(lab), walker.state()

    def dies(*args: object, **named: object) -> None:
        raise OnPurpose

    steps: list[tuple[object, str]] = [
        (sessions, "complete"),
        (windows, "follow"),
        (reminders, "plan"),
        (debriefing, "plan"),
    ]
    for place, name in steps:
        with monkeypatch.context() as patched:
            patched.setattr(place, name, dies)
            with pytest.raises(OnPurpose), lab_scope(lab.pk):
                stages.complete_stage(session, wall=START)
        assert (walker.session_states(), payments(lab), walker.state()) == before, name
    with lab_scope(lab.pk):
        assert stages.complete_stage(session, wall=START)
    assert walker.state() == "complete"
    assert payments(lab) == [("T1", Decimal("5.00")), ("T2", Decimal("5.00"))]
    assert Due.objects.filter(kind=DueKind.DEBRIEFING).count() == 1


def at_once(act: Callable[[], None], times: int = 2) -> None:
    """Run it in so many threads that start together."""
    start = Barrier(times)

    def run() -> None:
        start.wait()
        try:
            act()
        finally:
            connection.close()

    tabs = [Thread(target=run) for _ in range(times)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()


def test_two_tabs_complete_a_stage_once(own_lab: Lab) -> None:
    walker = Walker(make_way(own_lab, stages={"payment": "5", "minimum_gap_hours": 0}))
    walker.complete("T1")
    session = walker.talk("T2")
    results: list[bool] = []

    def finish() -> None:
        with lab_scope(own_lab.pk):
            results.append(stages.complete_stage(session, wall=START))

    at_once(finish, times=4)
    assert results == [True] * 4
    assert walker.state() == ParticipantState.COMPLETE
    assert payments(own_lab) == [("T1", Decimal("5.00")), ("T2", Decimal("5.00"))]


def test_two_tabs_that_begin_have_one_conversation(own_lab: Lab) -> None:
    walker = Walker(make_way(own_lab))
    seen: list[str] = []
    at_once(lambda: seen.append(walker.page("stage", "T1")[1]), times=3)
    with lab_scope(own_lab.pk):
        session = Session.objects.get()
    assert seen == [f"/chat/{session.pk}/"] * 3
