"""Following windows: marks are written once, and the one due row stands at the next change."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from chat import sessions
from chat.sessions import StageNotOpen
from experiments.enums import Moment, WithdrawalKind, WithdrawnBy
from experiments.models import Lab, Participant, Session, WindowMark
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memlab.journey import windows
from memlab.journey.withdrawing import withdraw
from questionnaires.models import Answer, Response
from tests.journey.times import HOUR, START, Wait
from tests.journey.walking import browser_of
from tests.studies import make_study, scripted

pytestmark = pytest.mark.django_db


def due(wait: Wait) -> datetime | None:
    row = Due.objects.filter(kind=DueKind.WINDOW, subject=wait.person.public_id).first()
    return None if row is None else row.wall_at


def marks(wait: Wait) -> list[tuple[str, str, datetime]]:
    with lab_scope(wait.lab.pk):
        found = WindowMark.objects.filter(participant=wait.person).order_by("at")
        return list(found.values_list("stage_key", "lost", "at"))


def test_the_due_row_goes_from_change_to_change_and_ends(lab: Lab) -> None:
    wait = Wait(lab)
    assert due(wait) == START  # whoever consents is looked at within a minute
    assert wait.follow(0) == ["later", "later"]
    assert due(wait) == START + 24 * HOUR
    assert wait.follow(24) == ["open", "later"]
    assert due(wait) == START + 72 * HOUR
    assert wait.follow(72) == ["missed", "later"]
    assert due(wait) == START + 96 * HOUR
    assert wait.follow(500) == ["missed", "missed"]
    assert due(wait) is None


def test_a_fortnight_without_a_tick_leaves_the_same_marks(lab: Lab) -> None:
    punctual, late = Wait(lab), Wait(lab)
    for hours in (0, 24, 72, 96, 144):
        punctual.follow(hours)
    late.follow(336)
    late.follow(336)
    expected = [("T1", "missed", START + 72 * HOUR), ("T2", "missed", START + 144 * HOUR)]
    assert marks(punctual) == expected
    assert marks(late) == expected


@pytest.mark.parametrize("state", ["withdrawn", "screened", "declined", "complete"])
def test_who_is_no_longer_on_their_way_misses_nothing(lab: Lab, state: str) -> None:
    wait = Wait(lab)
    wait.follow(72)
    wait.set(state=state)
    wait.follow(500)
    assert marks(wait) == [("T1", "missed", START + 72 * HOUR)]


def test_what_was_missed_before_a_withdrawal_is_known_though_nobody_looked(lab: Lab) -> None:
    wait = Wait(lab)
    with lab_scope(lab.pk):
        withdraw(
            wait.person, WithdrawalKind.ALL, by=WithdrawnBy.PARTICIPANT, wall=START + 100 * HOUR
        )
    wait.follow(500)
    assert marks(wait) == [("T1", "missed", START + 72 * HOUR)]


def test_a_session_may_be_finished_beyond_the_window_and_lapses_then(lab: Lab) -> None:
    wait = Wait(lab, stages={"idle_minutes": 6000})
    with lab_scope(lab.pk):
        entered = sessions.enter_stage(wait.person, "T1", wall=START + 71 * HOUR)
    assert wait.follow(77.9) == ["in_progress", "later"]
    assert wait.follow(78) == ["lapsed", "later"]
    assert marks(wait) == [("T1", "lapsed", START + 78 * HOUR)]
    with lab_scope(lab.pk):
        session = Session.objects.get(pk=entered.session.pk)
        assert (session.state, session.closed_by) == ("expired", "window")
    assert wait.follow(102) == ["lapsed", "open"]


def test_a_questionnaire_before_the_conversation_begins_the_stage(lab: Lab) -> None:
    wait = Wait(lab, asks_before=True)
    answered(wait, "T1", START + 71 * HOUR)
    assert wait.follow(73) == ["in_progress", "later"]
    with lab_scope(lab.pk):
        sessions.enter_stage(wait.person, "T1", wall=START + 74 * HOUR)
    other = Wait(lab, asks_before=True)
    answered(other, "T1", START + 71 * HOUR)
    assert other.follow(78) == ["lapsed", "later"]
    with lab_scope(lab.pk), pytest.raises(StageNotOpen) as refused:
        sessions.enter_stage(other.person, "T1", wall=START + 79 * HOUR)
    assert str(refused.value.standing) == "lapsed"


def answered(wait: Wait, stage: str, at: datetime) -> None:
    """The survey before the stage, with its first page answered."""
    with lab_scope(wait.lab.pk):
        response = Response.objects.create(
            id=uuid4(),
            participant=wait.person,
            moment=Moment.BEFORE,
            stage_key=stage,
            position=1,
            seed="s",
            started_at=at,
        )
        Answer.objects.create(response=response, item="mood_1", page=1, answered_at=at)


def test_a_mark_stands_even_if_the_zone_changes(lab: Lab) -> None:
    wait = Wait(lab, stages={"closes_at": "21:00"})
    assert wait.follow(84)[0] == "missed"  # 21:00 UTC on the fifth of March
    wait.set(time_zone="America/New_York")
    assert wait.follow(85)[0] == "missed"


def test_a_scripted_clock_plans_nothing(lab: Lab) -> None:
    person = scripted(make_study(lab), start=START)
    with lab_scope(lab.pk):
        windows.follow(person, wall=START)
    assert not Due.objects.filter(kind=DueKind.WINDOW, subject=person.public_id).exists()


@pytest.mark.parametrize("days", ["", "0", "366", "-1", "1.5", "two", "9" * 5000])
def test_days_that_are_none_are_not_skipped(lab: Lab, days: str) -> None:
    wait = Wait(lab, person={"test_mode": True})
    refused = browser_of(wait.person).post("/journey/skip/", {"skip_days": days})
    assert refused.status_code == 400
    with lab_scope(lab.pk):
        assert not Participant.objects.get().clock_offset


def test_skipping_days_has_the_windows_looked_at_and_moves_reminders(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0, 30]}, person={"test_mode": True})
    wait.follow(0)
    with lab_scope(lab.pk):
        Participant.objects.get(pk=wait.person.pk).skip(timedelta(days=1))
        first, second = wait.person.reminders.order_by("due_at")
    assert due(wait) == START - 24 * HOUR
    assert Due.objects.get(subject=first.pk).wall_at == START
    assert Due.objects.get(subject=second.pk).wall_at == START + 30 * HOUR
