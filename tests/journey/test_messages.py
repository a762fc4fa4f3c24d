"""What participants and staff write to each other: kept once, read by the right people."""

from __future__ import annotations

from uuid import uuid4

import pytest

from chat.models import AdverseEvent
from experiments.models import AuditEntry, Lab, Participant, StaffMessage
from memlab.core.tenancy import lab_scope
from tests.journey.walking import Walker, browser_of, make_way
from tests.people import signed_in
from tests.studies import enrol

PAGE = "/journey/messages/"


def texts(lab: Lab) -> list[tuple[str, bool]]:
    with lab_scope(lab.pk):
        return list(StaffMessage.objects.values_list("text", "from_staff"))


def test_a_question_and_its_answer(lab: Lab) -> None:
    walker = Walker(make_way(lab))
    sent = walker.client.post(PAGE, {"client_id": uuid4(), "text": " When does it go on? \r\n"})
    assert sent.status_code == 302
    staff = signed_in("Bob", lab)
    home = staff.get("/admin/").content.decode()
    assert "Messages of participants that nobody has read" in home
    thread = f"/admin/experiments/participant/{walker.participant.pk}/messages/"
    assert "When does it go on?" in staff.get(thread).content.decode()
    assert "Messages of participants" not in staff.get("/admin/").content.decode()
    answer = {"client_id": uuid4(), "text": "On Thursday."}
    assert staff.post(thread, answer).status_code == 302
    assert staff.post(thread, answer).status_code == 302
    assert texts(lab) == [("When does it go on?", False), ("On Thursday.", True)]
    assert "1 new" in walker.page("home")[1]
    told = walker.page("messages")[1]
    assert "On Thursday." in told
    assert "bob" not in told.lower()
    assert "1 new" not in walker.page("home")[1]
    assert "On Thursday." in staff.get(thread).content.decode()
    with lab_scope(lab.pk):
        assert AuditEntry.objects.filter(action="write_message").count() == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("  ", "write something"),
        ("x" * 2001, "At most 2000 characters"),
        ("a\x00b", "Null characters are not allowed"),
    ],
)
def test_what_can_not_be_kept_is_said_and_stays_in_the_field(
    lab: Lab, text: str, says: str
) -> None:
    walker = Walker(make_way(lab))
    answer = walker.client.post(PAGE, {"client_id": uuid4(), "text": text})
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert text in answer.content.decode()
    assert texts(lab) == []


def test_a_form_that_is_sent_twice_is_one_message(lab: Lab) -> None:
    walker = Walker(make_way(lab))
    form = {"client_id": uuid4(), "text": "Hello"}
    walker.client.post(PAGE, form)
    walker.client.post(PAGE, form)
    walker.client.post(PAGE, {"client_id": "unreadable", "text": "Hello"})
    assert texts(lab) == [("Hello", False), ("Hello", False)]


@pytest.mark.parametrize("state", ["withdrawn", "declined", "complete"])
def test_who_has_left_can_still_write(lab: Lab, state: str) -> None:
    walker = Walker(make_way(lab))
    with lab_scope(lab.pk):
        Participant.objects.update(state=state)
    assert walker.client.post(PAGE, {"text": "One more thing"}).status_code == 302
    assert walker.page("messages")[0] == 200


def test_nobody_reads_the_letters_of_another(lab: Lab) -> None:
    study = make_way(lab)
    first, second = Walker(study), Walker(study)
    first.client.post(PAGE, {"text": "XYZZY is between us"})
    assert "XYZZY" not in second.page("messages")[1]


def test_markup_is_text(lab: Lab) -> None:
    walker = Walker(make_way(lab))
    walker.client.post(PAGE, {"text": "<script>alert(1)</script>"})
    told = walker.page("messages")[1]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in told
    assert "<script>alert" not in told


def test_what_sounds_like_danger_shows_help_and_tells_the_safety_contact(lab: Lab) -> None:
    hotlines = "Crisis line | 0800 111 | day and night"
    study = make_way(lab, hotlines=hotlines, safety_contact_email="ada@example.org")
    client = browser_of(enrol(study))
    form = {"client_id": uuid4(), "text": "I want to kill myself."}
    for _twice in range(2):
        answer = client.post(PAGE, form)
        assert answer.headers["Location"] == "/journey/messages/?help"
    told = client.get("/journey/messages/?help").content.decode()
    assert 'href="tel:0800111"' in told
    assert 'role="alert"' in told
    with lab_scope(lab.pk):
        event = AdverseEvent.objects.get()
        assert (event.category, event.session_id, event.alert) == ("self_harm", None, "queued")
        assert "kill" not in event.note
    harmless = client.post(PAGE, {"text": "When does it go on?"})
    assert harmless.headers["Location"] == "/journey/messages/"
    assert 'role="alert"' not in client.get(PAGE).content.decode()


def test_an_analyst_reads_without_marking_and_does_not_write(lab: Lab) -> None:
    walker = Walker(make_way(lab))
    walker.client.post(PAGE, {"text": "Hello?"})
    thread = f"/admin/experiments/participant/{walker.participant.pk}/messages/"
    analyst = signed_in("Dora", lab)
    assert "Hello?" in analyst.get(thread).content.decode()
    analyst.post(thread, {"client_id": uuid4(), "text": "no"})
    with lab_scope(lab.pk):
        message = StaffMessage.objects.get()
        assert message.read_at is None
