"""The alert: sent at most once, whatever the mail server or death does in between."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import override_settings

from chat.models import AdverseEvent
from chat.safety import alerts, tasks
from chat.safety.enums import AlertState, Category, EventState, Severity, Source
from experiments.models import Lab, Participant, Study
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from tests.standin import mail
from tests.standin.mail import MailServer
from tests.studies import enrol, make_study

pytestmark = pytest.mark.usefixtures("kept_rows")

MINUTE = timedelta(minutes=1)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    monkeypatch.setattr("socket.getfqdn", lambda name="": "localhost")
    with mail.mail_server() as server, override_settings(**mail.settings_for(server)):
        yield server


@pytest.fixture
def person(own_lab: Lab) -> Participant:
    study = make_study(
        own_lab,
        title="Remembering",
        safety_contact_name="Dr. Ada Example",
        safety_contact_email="ada@example.org",
    )
    return enrol(study, test_mode=True)


@pytest.fixture
def event(person: Participant) -> AdverseEvent:
    """Reported by the participant, so that somebody has to be told."""
    with lab_scope(person.lab_id):
        wall = wall_now()
        row = AdverseEvent.objects.create(
            participant=person,
            source=Source.PARTICIPANT,
            category=Category.SELF_HARM,
            severity=Severity.SERIOUS,
            note="Zebrafinch wrote this",
            occurred_at=wall,
            recorded_at=wall,
        )
        alerts.queue(row, wall=wall)
        return row


def fresh(event: AdverseEvent) -> AdverseEvent:
    with lab_scope(event.lab_id):
        return AdverseEvent.objects.get(pk=event.pk)


def due_at(event: AdverseEvent) -> Due | None:
    return Due.objects.filter(kind=DueKind.ALERT, subject=event.pk).first()


def test_contact_is_told_with_a_link_and_without_a_word_that_was_said(
    server: MailServer, event: AdverseEvent, person: Participant
) -> None:
    assert tasks.send_alert(event.lab_id, str(event.pk)) == AlertState.SENT
    (letter,) = server.taken
    text = letter.get_content()
    assert letter["to"] == "ada@example.org"
    assert letter["subject"] == f"[test run] Adverse event: participant {person.code}, serious"
    assert f"/admin/chat/adverseevent/{event.pk}/change/" in text
    assert "Study: Remembering" in text
    assert "(UTC)" in text
    assert "Zebrafinch" not in letter.as_string()
    assert fresh(event).told_at is not None
    assert due_at(event) is None


def test_task_that_runs_twice_sends_once(server: MailServer, event: AdverseEvent) -> None:
    for _ in range(3):
        assert tasks.send_alert(event.lab_id, str(event.pk)) == AlertState.SENT
    assert server.arrived == 1


def test_process_that_dies_while_sending_leaves_it_unknown_and_nobody_repeats_it(
    server: MailServer, event: AdverseEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = wall_now()
    with monkeypatch.context() as killed:
        killed.setattr(alerts, "_end", die)
        with pytest.raises(SystemExit):
            alerts.send(event.lab_id, event.pk, wall=wall)
    assert server.arrived == 1
    assert alerts.send(event.lab_id, event.pk, wall=wall + MINUTE) == AlertState.SENDING
    due = due_at(event)
    assert due is not None
    assert alerts.send(event.lab_id, event.pk, wall=wall + 6 * MINUTE) == AlertState.UNKNOWN
    assert alerts.send(event.lab_id, event.pk, wall=wall + 60 * MINUTE) == AlertState.UNKNOWN
    assert server.arrived == 1
    assert due_at(event) is None
    with lab_scope(event.lab_id):
        assert list(AdverseEvent.objects.untold()) == [event]


def die(*arguments: object, **named: object) -> None:
    raise SystemExit


def test_server_that_refuses_for_now_is_asked_again_and_given_up_in_the_end(
    server: MailServer, event: AdverseEvent
) -> None:
    server.behaviour, wall = mail.REFUSE_FOR_NOW, wall_now()
    pauses = []
    for _ in range(5):
        assert alerts.send(event.lab_id, event.pk, wall=wall) == AlertState.QUEUED
        due = due_at(event)
        assert due is not None
        assert due.wall_at is not None
        pauses.append(int((due.wall_at - wall).total_seconds()))
        wall = due.wall_at
    assert pauses == [60, 120, 240, 480, 960]
    assert alerts.send(event.lab_id, event.pk, wall=wall) == AlertState.FAILED
    assert (fresh(event).alert_failure, due_at(event)) == ("refused_451", None)
    assert server.taken == []


def test_server_that_comes_back_gets_the_mail_once(server: MailServer, event: AdverseEvent) -> None:
    server.behaviour = mail.REFUSE_FOR_NOW
    alerts.send(event.lab_id, event.pk, wall=wall_now())
    server.behaviour = mail.TAKE
    assert alerts.send(event.lab_id, event.pk, wall=wall_now()) == AlertState.SENT
    assert len(server.taken) == 1


@pytest.mark.parametrize(
    ("behaviour", "state", "code"),
    [
        (mail.REFUSE, AlertState.FAILED, "refused_554"),
        (mail.CUT_AFTER_DATA, AlertState.UNKNOWN, "cut_SMTPServerDisconnected"),
    ],
)
def test_refusal_and_cut_connection_are_not_repeated(
    server: MailServer, event: AdverseEvent, behaviour: str, state: AlertState, code: str
) -> None:
    server.behaviour = behaviour
    for _ in range(2):
        assert alerts.send(event.lab_id, event.pk, wall=wall_now()) == state
    assert (fresh(event).alert_failure, server.arrived) == (code, 1)


def test_study_without_a_contact_says_so(server: MailServer, event: AdverseEvent) -> None:
    with lab_scope(event.lab_id):
        Study.objects.update(safety_contact_email="")
    assert alerts.send(event.lab_id, event.pk, wall=wall_now()) == AlertState.FAILED
    assert fresh(event).alert_failure == "no_contact"


def test_staff_have_it_sent_again(server: MailServer, event: AdverseEvent) -> None:
    server.behaviour = mail.CUT_AFTER_DATA
    alerts.send(event.lab_id, event.pk, wall=wall_now())
    server.behaviour = mail.TAKE
    with lab_scope(event.lab_id):
        alerts.queue_again(AdverseEvent.objects.get(pk=event.pk), wall=wall_now())
    assert alerts.send(event.lab_id, event.pk, wall=wall_now()) == AlertState.SENT


def test_another_lab_s_event_is_nobody_s(server: MailServer, event: AdverseEvent) -> None:
    other = Lab.objects.found(name="Elsewhere")
    assert tasks.send_alert(other.pk, str(event.pk)) is None
    assert server.arrived == 0


def test_event_is_acknowledged_and_closed_with_its_notes(event: AdverseEvent) -> None:
    wall = wall_now()
    with lab_scope(event.lab_id):
        row = AdverseEvent.objects.get(pk=event.pk)
        row.acknowledge(wall=wall, note="Called.")
        row.close(wall=wall + MINUTE, note="Fine.")
    closed = fresh(event)
    assert closed.state == EventState.CLOSED
    assert closed.note == "Zebrafinch wrote this\n\nCalled.\n\nFine."
    assert (closed.acknowledged_at, closed.closed_at) == (wall, wall + MINUTE)
