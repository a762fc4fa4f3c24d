"""Reminders: when they are planned, by which rules they expire, and that each leaves once."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from icalendar import Calendar

from chat import sessions
from experiments.enums import Closed, ReminderState, WithdrawalKind, WithdrawnBy
from experiments.models import Lab, Participant, Reminder
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memlab.journey import addresses, reminders
from memlab.journey.withdrawing import withdraw
from tests.journey.times import HOUR, START, Wait
from tests.standin.mail import CUT_AFTER_DATA, NO_SUCH_USER, REFUSE_FOR_NOW, mail_server
from tests.standin.mail import settings_for as smtp

pytestmark = pytest.mark.django_db
CHAIN = {"reminder_hours": [0, 24, 40]}


def test_a_chain_is_sent_while_nobody_comes(lab: Lab) -> None:
    wait = Wait(lab, stages=CHAIN)
    wait.follow(0)
    assert [row[:3] for row in wait.rows()] == [
        ("T1", 0, "planned"), ("T1", 1, "planned"), ("T1", 2, "planned"),
    ]  # fmt: skip
    assert wait.send(24) == ["sent"]
    assert wait.send(48) == ["sent", "sent"]  # the first is not sent again
    assert wait.send(64) == ["sent", "sent", "sent"]
    subjects = [message.subject for message in outbox.outbox]
    assert subjects == [
        "A study of remembering: “Talk 1” is open",
        "A study of remembering: “Talk 1” is still open",
        "A study of remembering: “Talk 1” is still open",
    ]
    assert [message.to for message in outbox.outbox] == [["p@example.org"]] * 3


def test_whoever_has_just_agreed_is_not_invited_to_what_they_see(lab: Lab) -> None:
    wait = Wait(lab, stages={**CHAIN, "minimum_gap_hours": 0})
    wait.follow(0)
    assert [row[:2] for row in wait.rows()] == [("T1", 1), ("T1", 2)]


def test_a_stage_that_is_done_needs_no_more_reminders(lab: Lab) -> None:
    wait = Wait(lab, stages=CHAIN)
    wait.follow(24)
    wait.send(24)
    with lab_scope(lab.pk):
        session = sessions.enter_stage(wait.person, "T1", wall=START + 25 * HOUR).session
        sessions.close(session, Closed.PARTICIPANT, at=START + 26 * HOUR)
    wait.follow(26)
    assert [row for row in wait.rows() if row[0] == "T1"] == [
        ("T1", 0, "sent", ""),
        ("T1", 1, "expired", "stage_over"),
        ("T1", 2, "expired", "stage_over"),
    ]


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"state": "withdrawn"}, "not_active"),
        ({"paused_at": START}, "paused"),
        ({"reminders_stopped_at": START}, "stopped"),
    ],
)
def test_who_must_not_be_reminded_is_not(lab: Lab, fields: dict[str, Any], rule: str) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]})
    wait.follow(0)
    wait.set(**fields)
    assert wait.send(24) == ["expired"]
    assert wait.rows()[0][3] == rule
    assert outbox.outbox == []


def test_whoever_is_in_conversation_is_not_reminded_and_whoever_stopped_is(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [1, 3], "idle_minutes": 6000})
    wait.follow(24)
    with lab_scope(lab.pk):
        sessions.enter_stage(wait.person, "T1", wall=START + 24.5 * HOUR)
    assert wait.send(25) == ["expired"]
    assert wait.send(27)[1] == "sent"
    assert [row[3] for row in wait.rows()] == ["talking", ""]
    assert "isn't finished yet" in outbox.outbox[0].subject
    assert "March 5, 2026, 3 p.m." in str(outbox.outbox[0].body)  # six hours more to finish


def test_who_has_left_the_conversations_is_not_invited_to_one(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]})
    with lab_scope(lab.pk):
        session = sessions.enter_stage(wait.person, "T1", wall=START + 25 * HOUR).session
        sessions.close(session, Closed.PARTICIPANT, at=START + 26 * HOUR)
    assert wait.follow(27) == ["done", "later"]
    assert wait.rows()[-1][:3] == ("T2", 0, "planned")
    with lab_scope(lab.pk):
        withdraw(
            wait.person, WithdrawalKind.CHAT, by=WithdrawnBy.PARTICIPANT, wall=START + 28 * HOUR
        )
        due = Due.objects.get(kind=DueKind.WINDOW, subject=wait.person.public_id)
        assert due.wall_at == START + 28 * HOUR  # nothing is left of the study: looked at at once
    assert wait.send(50)[-1] == "expired"
    assert wait.rows()[-1][3] == "stage_over"
    assert wait.follow(200) == ["done", "forgone"]
    assert outbox.outbox == []


def test_late_ones_expire_and_of_several_the_last_is_sent(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0, 2, 4, 30]})
    wait.follow(0)
    assert wait.send(29) == ["expired", "expired", "sent"]
    assert wait.send(67) == ["expired", "expired", "sent", "expired"]
    assert [row[3] for row in wait.rows()] == ["overtaken", "overtaken", "", "late"]


def test_without_an_address_nothing_is_sent(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]}, email="")
    wait.follow(0)
    assert wait.send(24) == ["expired"]
    assert wait.rows()[0][3] == "no_address"


def test_a_test_run_only_writes_down_that_it_would_have_been_sent(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]}, person={"test_mode": True})
    wait.follow(0)
    assert wait.send(24) == ["simulated"]
    assert outbox.outbox == []


def test_a_study_without_reminders_plans_none(lab: Lab) -> None:
    wait = Wait(lab, stages=CHAIN, reminder_channel="none")
    wait.follow(24)
    assert wait.rows() == []


def test_a_worker_that_died_while_sending_leaves_an_unknown_one(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]})
    wait.follow(0)
    wall = START + 24 * HOUR
    with lab_scope(lab.pk):
        reminder = Reminder.objects.get()
        claim = reminders._claim(reminder.pk, wall=wall)  # and then it dies
    assert isinstance(claim, reminders.Claim)
    assert wait.send(24.1) == ["sending"]  # others wait for its sign of life
    assert wait.send(24.2) == ["unknown"]
    assert wait.send(30) == ["unknown"]
    assert outbox.outbox == []
    assert not Due.objects.filter(kind=DueKind.REMINDER).exists()
    with lab_scope(lab.pk):
        # It wasn't dead after all, only slow: now it is known.
        assert reminders._settle(claim, None, wall=wall) is ReminderState.SENT


def test_what_the_server_answers_decides_whether_it_is_tried_again(lab: Lab, settings: Any) -> None:
    waits = [Wait(lab, stages={"reminder_hours": [0]}) for _ in range(3)]
    with mail_server() as server:
        for name, value in smtp(server).items():
            setattr(settings, name, value)
        for wait, behaviour in zip(
            waits, (REFUSE_FOR_NOW, NO_SUCH_USER, CUT_AFTER_DATA), strict=True
        ):
            wait.follow(0)
            server.behaviour = behaviour
            wait.send(24)
        assert [wait.rows()[0][2] for wait in waits] == ["planned", "failed", "unknown"]
        with lab_scope(lab.pk):
            later = Due.objects.get(subject=waits[0].person.reminders.get().pk)
        assert later.wall_at == START + 24 * HOUR + HOUR / 60
        server.behaviour = "take"
        assert waits[0].send(24.05) == ["sent"]
        assert (server.arrived, len(server.taken)) == (3, 1)


def test_after_the_last_pause_it_has_failed(lab: Lab, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    wait = Wait(lab, stages={"reminder_hours": [0]})
    wait.follow(0)
    states = [wait.send(24 + after)[0] for after in (0, 0.1, 0.3, 1, 4)]
    assert states == ["planned", "planned", "planned", "planned", "failed"]
    with lab_scope(lab.pk):
        assert Reminder.objects.get().failure == "no_server_ConnectionRefusedError"


def test_the_calendar_entry_is_one_that_later_reminders_update(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0, 1, 2]}, person={"time_zone": "Europe/Berlin"})
    wait.follow(0)
    wait.send(24)
    wait.send(25)
    with lab_scope(lab.pk):
        wait.person.extensions.create(stage_key="T1", until=START + 90 * HOUR, reason="ill")
    wait.send(26)
    events = [
        Calendar.from_ical(message.attachments[0][1]).walk("VEVENT")[0]  # type: ignore[index]
        for message in outbox.outbox
    ]
    assert len({str(event["UID"]) for event in events}) == 1
    assert [event.decoded("SEQUENCE") for event in events] == [0, 0, 1]
    assert [event.decoded("DTEND").isoformat() for event in events] == [
        "2026-03-05T10:00:00+01:00", "2026-03-05T10:00:00+01:00", "2026-03-06T04:00:00+01:00",
    ]  # fmt: skip
    assert events[0].decoded("DTSTART").isoformat() == "2026-03-03T10:00:00+01:00"
    assert outbox.outbox[0].attachments[0][2] == "text/calendar"  # type: ignore[index]


def test_the_mail_speaks_the_study_s_language_and_names_no_arm(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]}, language="zh-hans")
    wait.follow(0)
    wait.send(24)
    body = str(outbox.outbox[0].body)
    event = Calendar.from_ical(outbox.outbox[0].attachments[0][1]).walk("VEVENT")[0]  # type: ignore[index]
    assert str(event["SUMMARY"]) == "A study of remembering：Talk 1"
    assert wait.person.code in body
    assert "/join/" in body
    assert "/reminders/stop/" in body
    for arm in ("sensory", "hybrid", "gist"):
        assert arm not in body


def test_one_click_stops_reminders_and_opening_the_link_does_not(lab: Lab, client: Client) -> None:
    wait = Wait(lab)
    with lab_scope(lab.pk):
        path = addresses.stop_link(wait.person).removeprefix("http://127.0.0.1:8000")
    assert client.get(path).status_code == 200
    assert stopped(wait) is False
    assert client.post(path).status_code == 200
    assert stopped(wait) is True
    assert client.get("/reminders/stop/forged/").status_code == 404


def test_a_mail_program_can_stop_reminders_for_its_reader(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]})
    wait.follow(0)
    wait.send(24)
    headers = outbox.outbox[0].extra_headers
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = headers["List-Unsubscribe"]
    assert address[0] + address[-1] == "<>"
    program = Client(enforce_csrf_checks=True)
    posted = program.post(
        address[1:-1].removeprefix("http://127.0.0.1:8000"), {"List-Unsubscribe": "One-Click"}
    )
    assert posted.status_code == 200
    assert stopped(wait) is True


def stopped(wait: Wait) -> bool:
    with lab_scope(wait.lab.pk):
        return Participant.objects.get(pk=wait.person.pk).reminders_stopped_at is not None


def test_the_debriefing_is_told_once_and_to_dropouts_too(lab: Lab) -> None:
    wait = Wait(lab)
    wait.set(state="dropped")
    with lab_scope(lab.pk):
        person = Participant.objects.get(pk=wait.person.pk)
        reminders.plan_debriefing(person, wall=wall_now())
        reminders.plan_debriefing(person, wall=wall_now())
        reminder = Reminder.objects.get()
    assert str(reminders.send(lab.pk, reminder.pk, wall=wall_now())) == "sent"
    assert outbox.outbox[0].subject == "A study of remembering: what the study was about"
    assert outbox.outbox[0].attachments == []
