"""Where a participant belongs: the decision as a table, and the addresses that it leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from experiments.enums import Moment, ParticipantState
from experiments.models import Lab, Participant, Session
from memlab.core.tenancy import lab_scope
from memlab.journey.way import ENDED, Begun, Known, Step, Talk, decide
from questionnaires.models import Response
from tests.journey.walking import DAY, HOUR, START, Walker, make_way

ACTIVE = Known(state=ParticipantState.ACTIVE)


@pytest.mark.parametrize(
    ("known", "step"),
    [
        ({}, Step.HOME),
        ({"state": "invited", "entry_missing": True}, Step.ENTRY),
        ({"entry_missing": True}, Step.ENTRY),
        ({"paused": True, "entry_missing": True}, Step.PAUSED),
        ({"paused": True, "stage": Begun(talk=Talk.UNDER_WAY)}, Step.PAUSED),
        ({"stage": Begun(talk=Talk.NOT_YET, before_missing=True)}, Step.BEFORE),
        ({"stage": Begun(talk=Talk.NOT_YET)}, Step.CONVERSATION),
        ({"stage": Begun(talk=Talk.UNDER_WAY, after_missing=True)}, Step.CONVERSATION),
        ({"stage": Begun(talk=Talk.OVER, after_missing=True)}, Step.AFTER),
        ({"stage": Begun(talk=Talk.OVER)}, Step.COMPLETE),
        ({"state": "complete", "debriefing_waits": True}, Step.DEBRIEFING),
        ({"state": "complete"}, Step.END),
        ({"state": "dropped", "debriefing_waits": True}, Step.DEBRIEFING),
        ({"state": "withdrawn", "debriefing_waits": True}, Step.END),
        ({"state": "withdrawn", "paused": True}, Step.END),
        ({"state": "declined", "entry_missing": True}, Step.END),
        ({"state": "screened"}, Step.END),
        ({"state": "ineligible"}, Step.END),
    ],
)
def test_a_participant_belongs_to_one_place(known: dict[str, Any], step: Step) -> None:
    if "state" in known:
        known["state"] = ParticipantState(known["state"])
    assert decide(replace(ACTIVE, **known)) is step


@given(
    state=st.sampled_from(sorted(ENDED)),
    paused=st.booleans(),
    entry=st.booleans(),
    talk=st.sampled_from(list(Talk)),
)
def test_whoever_has_ended_never_talks_or_answers_a_stage_again(
    state: ParticipantState, paused: bool, entry: bool, talk: Talk
) -> None:
    known = Known(
        state=state,
        paused=paused,
        entry_missing=entry,
        stage=Begun(talk=talk, before_missing=True, after_missing=True),
    )
    assert decide(known) is Step.END


def answer_page(walker: Walker, moment: Moment) -> str:
    with lab_scope(walker.lab_id):
        response = Response.objects.get(participant=walker.participant, moment=moment)
        return reverse("questionnaires:answer", args=[response.pk])


def test_the_whole_way_through_a_stage(lab: Lab) -> None:
    asks = ((Moment.BEFORE, "T1"), (Moment.AFTER, "T1"))
    walker = Walker(make_way(lab, asks=asks, stages={"payment": "5"}))
    assert walker.next_page() == "/journey/"
    status, told = walker.page("stage", "T1")
    assert (status, told) == (302, answer_page(walker, Moment.BEFORE))
    assert walker.next_page() == "/journey/"  # nothing is answered: it isn't begun yet
    walker.answer()
    assert walker.next_page() == "/journey/stage/T1/"
    walker.page("stage", "T1")
    with lab_scope(lab.pk):
        session = Session.objects.get()
    assert walker.next_page() == f"/chat/{session.pk}/"
    walker.talk("T1")
    assert walker.next_page() == answer_page(walker, Moment.AFTER)
    assert walker.page("after", session.pk) == (302, answer_page(walker, Moment.AFTER))
    assert walker.session_states() == [("T1", "ended")]
    walker.answer()
    # Whoever looks first completes it and is told so, once: nothing is left of the stage then.
    assert walker.page("onward") == (302, "/journey/done/T1/")
    assert walker.page("onward") == (302, "/journey/")
    assert walker.session_states() == [("T1", "complete")]
    status, told = walker.page("after", session.pk)
    assert (status, told) == (302, "/journey/done/T1/")
    status, told = walker.page("done", "T1")
    assert status == 200
    assert "5.00 EUR" in told


def test_what_was_begun_comes_before_what_is_open(lab: Lab) -> None:
    walker = Walker(make_way(lab, asks=((Moment.AFTER, "T1"),), stages={"minimum_gap_hours": 0}))
    walker.talk("T1")
    walker.at(HOUR)
    assert walker.page("stage", "T2") == (302, "/journey/onward/")
    walker.next_page()
    walker.answer()
    status, told = walker.page("stage", "T2")
    assert status == 302
    assert told.startswith("/chat/")


def test_who_is_paused_sees_the_hotlines_and_nothing_to_say(lab: Lab) -> None:
    walker = Walker(make_way(lab, hotlines="Crisis line | 0800 111 | day and night"))
    with lab_scope(lab.pk):
        Participant.objects.update(paused_at=START)
    assert walker.next_page() == "/journey/paused/"
    for page in ("home", "onward"):
        assert walker.page(page) == (302, "/journey/paused/")
    assert walker.page("stage", "T1") == (302, "/journey/paused/")
    status, told = walker.page("paused")
    assert status == 200
    assert "0800 111" in told
    with lab_scope(lab.pk):
        assert not Session.objects.exists()


@pytest.mark.parametrize("state", sorted(ENDED))
def test_every_end_has_its_page_and_no_way_back(lab: Lab, state: str) -> None:
    walker = Walker(make_way(lab), state=state)
    for page, args in (("home", []), ("onward", []), ("stage", ["T1"])):
        assert walker.page(page, *args) == (302, "/journey/end/")
    status, told = walker.page("end")
    assert status == 200
    assert walker.participant.code in told
    assert walker.page("paused")[0] == 302


def test_a_missed_stage_is_not_entered(lab: Lab) -> None:
    walker = Walker(make_way(lab))
    assert walker.page("stage", "T2")[0] == 409
    walker.at(3 * DAY)
    assert walker.page("stage", "T1")[0] == 409
    assert walker.page("stage", "nowhere")[0] == 409
