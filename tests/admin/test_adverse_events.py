"""Adverse events in the back office: blinded staff handle them, and the home counts them."""

from __future__ import annotations

import pytest
from django.test import Client

from chat.models import AdverseEvent
from chat.safety.enums import AlertState, Category, EventState, Severity, Source
from chat.safety.hotlines import BadLine, Hotline, parsed
from chat.safety.troubles import safety_troubles
from experiments.enums import AuditAction
from experiments.models import AuditEntry, Deviation, Lab, Participant, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.people import signed_in
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(lab: Lab) -> Participant:
    return enrol(make_study(lab))


@pytest.fixture
def event(person: Participant) -> AdverseEvent:
    with lab_scope(person.lab_id):
        return AdverseEvent.objects.create(
            participant=person,
            source=Source.RULE,
            category=Category.SELF_HARM,
            severity=Severity.ACUTE,
            rule="en.self.note",
            occurred_at=wall_now(),
            recorded_at=wall_now(),
            alert=AlertState.FAILED,
            alert_failure="no_contact",
        )


@pytest.fixture
def bob(lab: Lab) -> Client:
    """An assistant: blinded, and the one who is there."""
    return signed_in("Bob", lab)


def page(event: AdverseEvent, slug: str) -> str:
    return f"/admin/chat/adverseevent/{event.pk}/{slug}/"


def fresh(event: AdverseEvent) -> AdverseEvent:
    with lab_scope(event.lab_id):
        return AdverseEvent.objects.get(pk=event.pk)


def test_home_shows_what_needs_somebody(bob: Client, event: AdverseEvent) -> None:
    home = bob.get("/admin/").content.decode()
    assert "Adverse events that nobody has looked at" in home
    assert "Alerts that could not be sent, or nobody knows" in home


def test_list_and_event_say_why_the_alert_failed(bob: Client, event: AdverseEvent) -> None:
    assert "acute" in bob.get("/admin/chat/adverseevent/").content.decode()
    shown = bob.get("/admin/chat/adverseevent/?alert__in=unknown,failed").content.decode()
    assert event.participant.code in shown
    assert "the study names no safety contact" in bob.get(page(event, "change")).content.decode()


def test_assistant_acknowledges_and_closes_with_a_note(bob: Client, event: AdverseEvent) -> None:
    assert bob.post(page(event, "acknowledge"), {"note": "Called her."}).status_code == 302
    assert fresh(event).state == EventState.ACKNOWLEDGED
    assert bob.post(page(event, "acknowledge"), {"note": "Again."}).status_code == 404
    assert bob.post(page(event, "close"), {"note": ""}).status_code == 200  # a note is needed
    assert bob.post(page(event, "close"), {"note": "She is well."}).status_code == 302
    closed = fresh(event)
    assert (closed.state, closed.note) == (EventState.CLOSED, "Called her.\n\nShe is well.")
    with lab_scope(event.lab_id):
        entry = AuditEntry.objects.get(action=AuditAction.CLOSE_ADVERSE_EVENT)
    assert "well" not in str(entry.details)


def test_alert_is_sent_again_by_hand(bob: Client, event: AdverseEvent) -> None:
    assert bob.post(page(event, "alert")).status_code == 302
    assert fresh(event).alert == AlertState.QUEUED
    with lab_scope(event.lab_id):
        assert Deviation.objects.get().kind == "resent"


def test_staff_report_what_they_learned(bob: Client, person: Participant) -> None:
    form = {"category": "other", "severity": "concern", "note": "Fainted in the lab."}
    answer = bob.post(f"/admin/experiments/participant/{person.pk}/report/", form)
    assert answer.status_code == 302
    with lab_scope(person.lab_id):
        row = AdverseEvent.objects.get()
    assert (row.source, row.alert, row.note) == ("staff", "none", "Fainted in the lab.")


def test_staff_pause_and_let_go_on(bob: Client, person: Participant) -> None:
    where = f"/admin/experiments/participant/{person.pk}"
    assert bob.post(f"{where}/resume/").status_code == 404
    assert bob.post(f"{where}/pause/").status_code == 302
    assert bob.post(f"{where}/pause/").status_code == 404
    assert "Participants who are paused" in bob.get("/admin/").content.decode()
    assert (
        person.code
        in bob.get("/admin/experiments/participant/?paused_at__isempty=0").content.decode()
    )
    assert bob.post(f"{where}/resume/").status_code == 302
    with lab_scope(person.lab_id):
        kinds = Deviation.objects.order_by("pk").values_list("kind", flat=True)
        assert list(kinds) == ["paused", "resumed"]


def test_analyst_only_looks(lab: Lab, event: AdverseEvent) -> None:
    dora = signed_in("Dora", lab)
    assert dora.get(page(event, "change")).status_code == 200
    assert dora.post(page(event, "close"), {"note": "x"}).status_code == 404


def test_hotlines_are_read_line_by_line() -> None:
    found, bad = parsed("988 Lifeline | 988 | day and night\n\n热线｜400-161-9995\nCall us\nA | b")
    assert found == (
        Hotline("988 Lifeline", "988", "day and night"),
        Hotline("热线", "400-161-9995", ""),
    )
    assert bad == (BadLine(4, "Call us"), BadLine(5, "A | b"))
    assert [line.tel for line in found] == ["tel:988", "tel:4001619995"]
    assert Hotline("Chat", "https://example.org", "").tel == ""
    assert Hotline("Abroad", "+44 (0)20 7946 0000", "").tel == "tel:+442079460000"


def test_what_a_study_lacks_is_said() -> None:
    assert safety_troubles(Study()) == [
        "There is no safety contact: give a name and an e-mail address.",
        "There is no hotline: write at least one line as “name | number | when”.",
    ]
    whole = Study(
        safety_contact_name="Ada",
        safety_contact_email="ada@example.org",
        hotlines="Line | 116 123\nCall us",
    )
    assert safety_troubles(whole) == [
        "Hotlines, line 2 can't be read: “Call us”. Write “name | number | when”."
    ]
