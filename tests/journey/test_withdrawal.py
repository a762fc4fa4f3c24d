"""The participant's pages of withdrawal, in every state, and what a browser is left with."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from experiments.access import COOKIE, remember
from experiments.enums import ParticipantState, SessionState, WithdrawalKind
from experiments.models import Lab, Participant, Session, Study, Withdrawal
from experiments.models.withdrawal import receipt_hash
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research import erasure
from tests.studies import enrol, enter, make_study, reference_of

PAGE, DONE = reverse("journey:withdraw"), reverse("journey:withdrawn")
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def log(settings, tmp_path: Path) -> None:
    settings.ERASURE_LOG = tmp_path


@pytest.fixture
def study(lab: Lab) -> Study:
    return make_study(lab)


def browser_of(participant: Participant) -> Client:
    from django.http import HttpResponse

    response = HttpResponse()
    remember(response, reference_of(participant))
    client = Client()
    client.cookies[COOKIE] = response.cookies[COOKIE].value
    return client


def confirm(client: Client, kind: str, reason: str = "") -> str:
    """Withdraw in both steps; the page that follows."""
    asked = client.post(PAGE, {"kind": kind, "reason": reason})
    assert asked.status_code == 200
    assert "Are you sure?" in asked.content.decode()
    done = client.post(PAGE, {"kind": kind, "reason": reason, "confirm": "yes"}, follow=True)
    assert done.redirect_chain == [(DONE, 302)]
    return done.content.decode()


def withdrawals(study: Study) -> list[tuple[str, str, str]]:
    with lab_scope(study.lab_id):
        rows = Withdrawal.objects.order_by("requested_wall")
        return list(rows.values_list("kind", "requested_by", "reason"))


def carry_out(study: Study) -> None:
    with lab_scope(study.lab_id):
        pending = list(Withdrawal.objects.values_list("pk", flat=True))
    for each in pending:
        erasure.carry_out(study.lab_id, each, wall=wall_now())


def test_nothing_happens_before_the_last_step(study: Study) -> None:
    client = browser_of(enrol(study))
    page = client.get(PAGE).content.decode()
    for words in (
        "No more conversations",
        "Stop taking part",
        "remove what leads to me",
        "delete everything",
    ):
        assert words in page
    client.post(PAGE, {"kind": "erase", "reason": "why"})
    back = client.post(PAGE, {"kind": "erase", "reason": "why", "confirm": "", "back": "yes"})
    assert "<textarea" in back.content.decode()
    assert withdrawals(study) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reason": ""}, "Please choose how far you want to go."),
        ({"kind": "everything"}, "Please choose how far you want to go."),
        ({"kind": "all", "reason": "x" * 501}, "At most 500 characters; this has 501."),
        ({"kind": "all", "reason": "a\x00b"}, "Null characters are not allowed"),
    ],
)
def test_a_bad_form_says_what_is_missing(study: Study, given: dict[str, str], words: str) -> None:
    refused = browser_of(enrol(study)).post(PAGE, {**given, "confirm": "yes"})
    assert refused.status_code == 400
    assert words in refused.content.decode()
    assert withdrawals(study) == []


def test_withdrawal_in_mid_conversation_closes_it(study: Study) -> None:
    participant = enrol(study)
    session = enter(participant)
    page = confirm(browser_of(participant), "all", "no time")
    assert "this is under way" in page
    with lab_scope(study.lab_id):
        assert Session.objects.get(pk=session.pk).state == SessionState.ENDED
    assert withdrawals(study) == [("all", "participant", "no time")]


@pytest.mark.parametrize("state", ["paused", *ParticipantState])
def test_withdrawal_works_in_every_state(study: Study, state: str) -> None:
    participant = enrol(study)
    with lab_scope(study.lab_id):
        row = Participant.objects.filter(pk=participant.pk)
        if state == "paused":
            row.update(paused_at=wall_now())
        else:
            row.update(state=state)
    assert "Your receipt" in confirm(browser_of(participant), "erase")


def test_an_erased_person_can_read_their_receipt_and_nothing_else(study: Study) -> None:
    participant = enrol(study)
    client = browser_of(participant)
    page = confirm(client, "erase")
    with lab_scope(study.lab_id):
        code_hash = Withdrawal.objects.get().code_hash
    carry_out(study)
    done = client.get(DONE).content.decode()
    assert "this is done." in done
    code = done.partition('class="code">')[2].partition("<")[0]
    assert code in page
    assert receipt_hash(code) == code_hash
    assert client.cookies[COOKIE].value == ""
    stranger = browser_of(participant)  # with the cookie of somebody who is gone
    assert [stranger.get(url).status_code for url in (PAGE, DONE)] == [404, 404]
    assert "You are not known here" in Client().get(DONE).content.decode()


@pytest.mark.parametrize("kind", ["anonymise", "erase"])
@pytest.mark.parametrize("removed", [False, True])
def test_a_lost_answer_to_the_confirmation_loses_no_receipt(
    study: Study, kind: str, removed: bool
) -> None:
    client = browser_of(enrol(study))
    client.post(PAGE, {"kind": kind})
    as_it_was = client.cookies.output()
    lost = client.post(PAGE, {"kind": kind, "confirm": "yes"}, follow=True).content.decode()
    client.cookies.load(as_it_was.replace("Set-Cookie: ", ""))
    if removed:
        carry_out(study)
    shown = client.get(DONE).content.decode()
    code = shown.partition('class="code">')[2].partition("<")[0]
    assert f'class="code">{code}<' in lost
    with lab_scope(study.lab_id):
        assert Withdrawal.objects.count() == 1
        if not removed:
            assert Withdrawal.objects.get().code_hash == receipt_hash(code)
    again = client.post(PAGE, {"kind": kind, "confirm": "yes"}, follow=True)
    assert again.redirect_chain == [(DONE, 302)]
    assert f'class="code">{code}<' in again.content.decode()
    assert client.cookies[COOKIE].value == ""


def test_a_receipt_that_was_only_offered_says_nothing(study: Study) -> None:
    client = browser_of(enrol(study))
    client.post(PAGE, {"kind": "erase"})
    assert client.get(DONE, follow=True).redirect_chain == [(PAGE, 302)]
    assert "Your receipt" not in confirm(client, "all")
    offered = client.cookies["memlab_receipt"].value
    stranger = browser_of(enrol(study))
    stranger.cookies["memlab_receipt"] = offered
    assert "Your receipt" in confirm(stranger, "erase")
    assert stranger.cookies["memlab_receipt"].value != offered  # it isn't theirs


def test_a_browser_that_is_somebody_else_s_by_now_shows_no_receipt(study: Study) -> None:
    client = browser_of(enrol(study))
    confirm(client, "erase")
    next_one = browser_of(enrol(study))
    client.cookies[COOKIE] = next_one.cookies[COOKIE].value
    assert client.get(DONE, follow=True).redirect_chain == [(PAGE, 302)]
    client.post(PAGE, {"kind": "erase", "confirm": "yes"})
    assert [kind for kind, *_rest in withdrawals(study)] == ["erase", "erase"]


def test_one_can_go_further_but_not_back(study: Study) -> None:
    client = browser_of(enrol(study))
    confirm(client, "chat")
    page = client.get(PAGE).content.decode()
    assert 'value="chat"' not in page
    assert client.post(PAGE, {"kind": "chat", "confirm": "yes"}).status_code == 400
    confirm(client, "anonymise")
    assert [kind for kind, *_rest in withdrawals(study)] == ["chat", "anonymise"]


def test_who_has_left_the_chat_meets_stages_without_one(study: Study) -> None:
    participant = enrol(study)
    confirm(browser_of(participant), WithdrawalKind.CHAT)
    session = enter(participant)
    assert (session.state, session.closed_by, session.manipulation) == (
        SessionState.ENDED,
        "withdrawn",
        False,
    )
    again = enter(participant, "T2", wall_now() + 2 * DAY)
    assert (again.number, again.manipulation) == (2, False)
    with lab_scope(study.lab_id):
        assert not participant.allocations.exists()
