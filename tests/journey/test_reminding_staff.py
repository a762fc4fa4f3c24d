"""What staff do with reminders: today's list, sending again, the webhook's secret."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection

from experiments.enums import IdentifierKind
from experiments.models import AuditEntry, Identifier, Identity, Lab, Participant, Reminder
from memlab.core.clock import wall_now
from memlab.core.due import Due
from memlab.core.tenancy import lab_scope
from memlab.journey import reminders, todays_list, windows
from tests.journey.times import HOUR, START, Wait
from tests.journey.waits import somebody_waits_for_us
from tests.people import signed_in
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db
STAGES = {"minimum_gap_hours": 0.5, "window_hours": 48, "reminder_hours": [0]}


def waiting(lab: Lab, **fields: Any) -> tuple[Any, Participant]:
    """A study, and somebody in it whose stage has just opened."""
    study = make_study(lab, stages=STAGES, **fields)
    person = enrol(study, wall=wall_now() - timedelta(hours=1))
    with lab_scope(lab.pk):
        windows.follow(person, wall=wall_now())
    return study, person


def test_today_s_list_is_handed_over_once_and_fetched_again(lab: Lab) -> None:
    study, person = waiting(lab, reminder_channel="list")
    with lab_scope(lab.pk):
        identity = Identity(IdentifierKind.PROLIFIC, "=5f0c")
        Identifier.objects.all().keep(person, identity)
        assert not Due.objects.filter(subject=Reminder.objects.get().pk).exists()
    address = f"/admin/experiments/study/{study.pk}/reminders/"
    erin = signed_in("Erin", lab)
    assert person.code in erin.get(address).content.decode()
    for again in ("no", "yes"):
        response = erin.post(address)
        assert "no-store" in response["Cache-Control"]
        (line,) = csv.DictReader(io.StringIO(response.content.decode("utf-8-sig")))
        assert line["participant"] == person.code
        assert line["recruiter_id"] == "'=5f0c"
        assert (line["recruiter"], line["stage"], line["again"]) == ("prolific", "T1", again)
    with lab_scope(lab.pk):
        assert Reminder.objects.get().state == "sent"
        entries = AuditEntry.objects.filter(action="export_reminders").order_by("pk")
        assert [entry.details["new"] for entry in entries] == [1, 0]


def test_assistants_see_whom_to_remind_but_no_file_of_ids(lab: Lab) -> None:
    study, person = waiting(lab, reminder_channel="list")
    with lab_scope(lab.pk):
        Identifier.objects.all().keep(person, Identity(IdentifierKind.PROLIFIC, "5f0cfeed"))
    address = f"/admin/experiments/study/{study.pk}/reminders/"
    bob = signed_in("Bob", lab)
    page = bob.get(address).content.decode()
    assert person.code in page
    assert "5f0cfeed" not in page
    assert "Download as CSV" not in page
    assert "a researcher or owner of the lab downloads the file" in page
    assert "Download as CSV" in signed_in("Erin", lab).get(address).content.decode()
    assert bob.post(address).status_code == 404
    assert signed_in("Dora", lab).get(address).status_code == 404  # changes nothing about people
    with lab_scope(lab.pk):
        assert Reminder.objects.get().state == "planned"


@pytest.mark.django_db(transaction=True)
def test_two_who_fetch_the_list_at_once_hand_it_over_once(own_lab: Lab) -> None:
    study, person = waiting(own_lab, reminder_channel="list")
    fetched, new = Event(), []

    def fetch() -> None:
        fetched.set()
        with lab_scope(own_lab.pk):
            new.append(todays_list.hand_over(study, wall=wall_now())[1])
        connection.close()

    colleague = Thread(target=fetch)
    with lab_scope(own_lab.pk):
        new.append(todays_list.hand_over(study, wall=wall_now())[1])
        colleague.start()
        assert fetched.wait(10)
        assert somebody_waits_for_us()
    colleague.join()
    assert new == [1, 0]
    with lab_scope(own_lab.pk):
        assert Reminder.objects.get(participant=person).state == "sent"


def test_nobody_who_left_is_on_the_list(lab: Lab) -> None:
    study, person = waiting(lab, reminder_channel="list")
    with lab_scope(lab.pk):
        Participant.objects.filter(pk=person.pk).update(state="withdrawn")
    page = signed_in("Erin", lab).get(f"/admin/experiments/study/{study.pk}/reminders/")
    assert "Nobody is to be reminded today." in page.content.decode()
    with lab_scope(lab.pk):
        assert Reminder.objects.get().rule == "not_active"


def test_who_was_anonymised_is_not_on_the_list_under_their_new_code(lab: Lab) -> None:
    study, person = waiting(lab, reminder_channel="list")
    with lab_scope(lab.pk):
        Participant.objects.filter(pk=person.pk).update(state="withdrawn")
        reminders.plan_debriefing(person, wall=wall_now())
        Participant.objects.get(pk=person.pk).anonymise(wall=wall_now())
        assert todays_list.lines(study, wall=wall_now()) == []


def test_an_unknown_one_is_sent_again_by_a_click_and_logged(lab: Lab) -> None:
    _study, _person = waiting(lab)
    with lab_scope(lab.pk):
        reminder = Reminder.objects.get()
        Reminder.objects.update(state="unknown")
    home = signed_in("Bob", lab)
    assert "nobody knows whether they arrived" in home.get("/admin/").content.decode()
    address = f"/admin/experiments/reminder/{reminder.pk}/resend/"
    assert home.post(address).status_code == 302
    assert home.post(address).status_code == 404  # planned: nothing to send again
    with lab_scope(lab.pk):
        assert Reminder.objects.get().state == "planned"
        assert AuditEntry.objects.get(action="resend_reminder").details == {"state": "unknown"}


def test_what_staff_send_again_stays_due_though_its_moment_is_long_past(lab: Lab) -> None:
    wait = Wait(lab, stages={"reminder_hours": [0]})
    wait.follow(24)
    with lab_scope(lab.pk):
        reminder = Reminder.objects.get()
        reminder.begin(wall=START + 24 * HOUR, window=(None, None), sequence=0)
        reminder.lose("no_sign", wall=START + 24 * HOUR)
        assert reminders.resend(reminder.pk, wall=START + 45 * HOUR)
    wait.follow(46)
    assert wait.send(46) == ["sent"]


def test_the_webhook_s_secret_is_shown_once(lab: Lab) -> None:
    study = make_study(
        lab, reminder_channel="webhook", webhook_url="https://hooks.example.org/memlab"
    )
    alice = signed_in("Alice", lab)
    page = alice.post(f"/admin/experiments/study/{study.pk}/webhook-secret/").content.decode()
    with lab_scope(lab.pk):
        study.refresh_from_db()
        secret = study.webhook_secret()
    assert len(secret) == 43
    assert secret in page
    assert secret not in alice.get(f"/admin/experiments/study/{study.pk}/change/").content.decode()
