"""The crisis card over the socket: every tab, after a reload, after the pause; the same in arms."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest
from django.test import Client

from chat import conversation
from chat.conversation import SessionRef
from chat.safety import pauses
from experiments.enums import AuditAction
from experiments.models import AuditEntry, Lab, Participant
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from tests.chat.sockets import Tab, cookie_of
from tests.chat.test_safety_events import HOTLINES, careful
from tests.people import signed_in
from tests.studies import enrol, enter, reference_of

pytestmark = pytest.mark.usefixtures("kept_rows")


@pytest.fixture
def person(own_lab: Lab) -> Participant:
    return enrol(careful(own_lab, hotlines=HOTLINES))


def resume(person: Participant) -> None:
    with lab_scope(person.lab_id):
        pauses.resume(Participant.objects.get(pk=person.pk), wall=wall_now())


async def test_card_and_pause_reach_every_tab_and_stay_over_a_reload(person: Participant) -> None:
    session = await unit(enter, person)
    async with Tab(person, session.id) as one, Tab(person, session.id) as two:
        await two.until("timer")
        await one.say("I don't want to live anymore.")
        card = await one.until("card")
        assert await two.until("card") == card
        assert card["paused"] is True
        assert [frame["type"] for frame in two.frames[-3:]] == ["message", "failed", "card"]
        await two.say("Hello?")
        error = await two.until("error")
        assert error["code"] == "paused"
        assert error["message"] == "This conversation is paused, so the message was not sent."
    async with Tab(person, session.id) as again:
        history = await again.until("history")
        assert (history["paused"], history["card"]) == (True, card)
        assert [item["state"] for item in history["items"]] == ["settled", "settled", "failed"]
        await unit(resume, person)
        assert (await again.until("card"))["paused"] is False
        await again.say("I talked to my sister.")
        reply = await again.until("reply")
        assert reply["seq"] == 5
        assert (await again.until("card"))["times"] == 1


async def test_card_says_the_same_in_every_arm(own_lab: Lab) -> None:
    cards = []
    for arm in ("sensory", "hybrid"):
        study = await unit(careful, own_lab, hotlines=HOTLINES, title=f"Study of {arm}")
        person = await unit(enrol, study, arm=arm)
        session = await unit(enter, person)
        async with Tab(person, session.id) as tab:
            await tab.say("I want to die.")
            await tab.until("card")
        cards.append(tab.raw[-1])
    assert cards[0] == cards[1]


def test_page_of_the_pause_and_the_way_back(own_lab: Lab, person: Participant) -> None:
    session = enter(person)
    browser = Client()
    browser.cookies = SimpleCookie(cookie_of(person))
    assert browser.get("/journey/paused/").status_code == 302
    conversation.say(
        SessionRef.of(reference_of(person), session.id),
        client_id=session.id,
        text="I want to die.",
        wall=wall_now(),
    )
    page = browser.get("/journey/paused/").content.decode()
    assert 'href="tel:116123"' in page
    assert "ada@example.org" in page
    assert "I want to die" not in page
    staff = signed_in("Bob", own_lab)  # an assistant, blinded
    answer = staff.post(f"/admin/experiments/participant/{person.pk}/resume/")
    assert answer.status_code == 302
    with lab_scope(own_lab.pk):
        assert Participant.objects.get(pk=person.pk).paused_at is None
        assert AuditEntry.objects.filter(action=AuditAction.RESUME_PARTICIPANT).count() == 1
    assert browser.get("/journey/paused/").status_code == 302
