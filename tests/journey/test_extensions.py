"""Extensions: what they open again, what they refuse, and that they never shorten."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail as outbox
from django.core.exceptions import ValidationError

from chat import sessions
from experiments.enums import Moment
from experiments.models import Deviation, Lab, Participant, Session, WindowMark
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.journey.extensions import extend
from questionnaires.models import Response
from tests.journey.times import HOUR, START, Wait
from tests.journey.walking import Walker, make_way
from tests.people import person, signed_in
from tests.questionnaires.asked import PETS, ask
from tests.studies import make_study

pytestmark = pytest.mark.django_db


def give(wait: Wait, stage: str, until: float, at: float) -> None:
    with lab_scope(wait.lab.pk):
        extend(
            Participant.objects.get(pk=wait.person.pk),
            stage,
            until=START + until * HOUR,
            reason="was ill",
            user_id=None,
            wall=START + at * HOUR,
        )


def test_an_open_window_is_put_off_and_the_participant_told(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]})
    wait.follow(24)
    wait.send(24)
    give(wait, "T1", until=100, at=50)
    assert wait.follow(99) == ["open", "later"]
    assert wait.send(50) == ["sent", "sent"]
    assert outbox.outbox[1].subject == "A study of remembering: you have more time for “Talk 1”"
    with lab_scope(lab.pk):
        (row,) = Deviation.objects.all()
        assert (row.kind, row.details["stage"], row.details["missed"]) == (
            "window_extended", "T1", False,
        )  # fmt: skip


def test_a_missed_stage_opens_again_with_those_that_were_missed_after_it(lab: Lab) -> None:
    wait = Wait(lab)
    assert wait.follow(200) == ["missed", "missed"]
    wait.set(state="dropped")
    give(wait, "T1", until=300, at=201)
    assert wait.follow(202) == ["open", "later"]
    with lab_scope(lab.pk):
        assert Participant.objects.get(pk=wait.person.pk).state == "active"
        assert [mark.lifted_by is not None for mark in WindowMark.objects.all()] == [True, True]
    assert wait.follow(300) == ["missed", "later"]
    assert wait.follow(324) == ["missed", "open"]


def test_what_was_looked_at_and_missed_is_asked_again(lab: Lab) -> None:
    study = make_study(lab, stages={"window_hours": 48, "finish_hours": 6})
    ask(study, PETS, moment=Moment.BEFORE)
    walker = Walker(study)
    question = walker.page("stage", "T1")[1]
    walker.at(50 * HOUR)
    walker.follow()
    with lab_scope(lab.pk):
        assert Response.objects.get().answers.count() == len(PETS.items)  # all timed out
        extend(
            walker.participant,
            "T1",
            until=walker.now + 24 * HOUR,
            reason="was ill",
            user_id=None,
            wall=walker.now,
        )
        assert not Response.objects.get().answers.exists()
    walker.at(51 * HOUR)
    assert walker.page("home")[1].count("stage/T1") == 1
    assert walker.page("stage", "T1") == (302, question)
    assert walker.client.get(question).status_code == 200
    walker.answer()
    walker.complete("T1")
    assert walker.session_states() == [("T1", "complete")]


def test_a_conversation_under_way_may_go_on_longer(lab: Lab) -> None:
    wait = Wait(lab, stages={"idle_minutes": 60000})
    with lab_scope(lab.pk):
        session = sessions.enter_stage(wait.person, "T1", wall=START + 70 * HOUR).session
    give(wait, "T1", until=90, at=75)
    with lab_scope(lab.pk):
        assert Session.objects.get(pk=session.pk).window_closes_at == START + 96 * HOUR
    assert wait.follow(95)[0] == "in_progress"
    assert wait.follow(96)[0] == "lapsed"


def test_an_extension_does_not_count_a_pause_twice(lab: Lab) -> None:
    wait = Wait(lab, stages={"idle_minutes": 60000})
    with lab_scope(lab.pk):
        session = sessions.enter_stage(wait.person, "T1", wall=START + 70 * HOUR).session
        session.pause(at=START + 71 * HOUR)
        session.go_on(at=START + 73 * HOUR)
    give(wait, "T1", until=90, at=75)
    assert wait.follow(97)[0] == "in_progress"
    assert wait.follow(98)[0] == "lapsed"


def test_what_was_finished_in_time_is_complete_before_anything_is_extended(lab: Lab) -> None:
    walker = Walker(make_way(lab, asks=((Moment.AFTER, "T1"),)))
    walker.talk("T1")
    walker.next_page()
    walker.answer()  # and the browser is closed before it asks for what comes next
    walker.at(100 * HOUR)
    page = f"/admin/experiments/participant/{walker.participant.pk}/extend/"
    assert "Talk 1" not in signed_in("Bob", lab).get(page).content.decode()
    assert walker.session_states() == [("T1", "complete")]


@pytest.mark.parametrize(
    ("until", "at"), [(72, 50), (60, 50), (72, 71)], ids=["the same", "shorter", "nothing more"]
)
def test_an_extension_never_shortens(lab: Lab, until: float, at: float) -> None:
    wait = Wait(lab)
    with pytest.raises(ValidationError, match="later than the window does now"):
        give(wait, "T1", until=until, at=at)


def test_an_extension_without_end_is_a_slip_of_the_pen(lab: Lab) -> None:
    wait = Wait(lab)
    with pytest.raises(ValidationError, match="of a year at most"):
        give(wait, "T1", until=72 + 24 * 366 + 1, at=50)
    give(wait, "T1", until=72 + 24 * 366, at=50)


def test_what_was_missed_before_a_stage_that_was_begun_stays_missed(lab: Lab) -> None:
    wait = Wait(lab)
    wait.follow(96)
    with lab_scope(lab.pk):
        sessions.enter_stage(wait.person, "T2", wall=START + 97 * HOUR)
    with pytest.raises(ValidationError, match="A later stage has been begun"):
        give(wait, "T1", until=300, at=98)


def test_a_stage_without_end_can_t_be_extended(lab: Lab) -> None:
    with pytest.raises(ValidationError, match="has no end"):
        give(Wait(lab, stages={"window_hours": None}), "T1", until=300, at=98)


def test_staff_extend_on_the_participant_s_page(lab: Lab) -> None:
    wait = Wait(lab, stages={"window_hours": 24 * 365 * 3})
    address = f"/admin/experiments/participant/{wait.person.pk}/extend/"
    bob, dora = signed_in("Bob", lab), signed_in("Dora", lab)
    assert dora.get(address).status_code == 404  # an analyst changes nothing
    assert "Talk 1" in bob.get(address).content.decode()
    form = {"stage": "T1", "until_0": "", "until_1": "", "hours": "", "reason": "was ill"}
    assert "either until when or by how many" in bob.post(address, form).content.decode()
    assert bob.post(address, {**form, "hours": "48"}).status_code == 302
    with lab_scope(lab.pk):
        (row,) = wait.person.extensions.all()
        assert row.until == START + 24 * HOUR + timedelta(days=3 * 365 + 2)
        assert str(row.user) == str(person("Bob"))
    past = {**form, "until_0": f"{wall_now():%Y-%m-%d}", "until_1": "00:00:00"}
    assert "must end later" in bob.post(address, past).content.decode()
