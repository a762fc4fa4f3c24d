"""Coming back with code and password; being forgotten by a browser."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from experiments.access import COOKIE
from experiments.models import FailedReturn, Lab, Participant, ReturnKey
from experiments.models.returning import MOST_FOR_A_CODE, MOST_FROM_AN_ADDRESS, WINDOW, buckets
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def participant(lab: Lab) -> Participant:
    participant = enrol(make_study(lab))
    with lab_scope(lab.pk):
        participant.set_password(PASSWORD)
    return participant


def tried(code: str, password: str = PASSWORD, client: Client | None = None, **more: Any) -> Any:
    return (client or Client()).post("/return/", {"code": code, "password": password}, **more)


def test_code_and_password_bring_somebody_back(participant: Participant) -> None:
    client = Client()
    assert COOKIE not in client.get("/return/").cookies
    answer = tried(participant.code, client=client)
    assert answer["Location"] == "/journey/onward/"
    assert participant.code in client.get("/journey/").content.decode()


def test_a_code_may_be_written_as_people_write_it(participant: Participant) -> None:
    code = participant.code
    assert tried(f" {code[:3]}-{code[3:].lower()} ").status_code == 302


def test_a_wrong_code_and_a_wrong_password_get_the_same_answer(
    lab: Lab, participant: Participant
) -> None:
    without = enrol(make_study(lab))
    pages = set()
    for code, password in (
        (participant.code, "wrong horse battery"),
        (participant.code, ""),
        ("BBBBBBB", PASSWORD),
        (without.code, PASSWORD),
        (without.code, ""),
    ):
        answer = tried(code, password)
        assert (answer.status_code, COOKIE in answer.cookies) == (400, False)
        html = answer.content.decode()
        token = html.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        pages.add(html.replace(token, "").replace(code, ""))
    assert len(pages) == 1


def test_a_code_is_locked_after_failures_and_free_again_in_time(participant: Participant) -> None:
    for _number in range(MOST_FOR_A_CODE):
        assert tried(participant.code, "wrong").status_code == 400
    assert tried(participant.code).status_code == 429
    assert tried("BBBBBBB").status_code == 400  # others aren't
    FailedReturn.objects.update(since=wall_now() - WINDOW - timedelta(seconds=1))
    assert tried(participant.code).status_code == 302


def test_a_code_that_is_nobodys_is_locked_alike() -> None:
    for _number in range(MOST_FOR_A_CODE):
        assert tried("BBBBBBB").status_code == 400
    assert tried("BBBBBBB").status_code == 429


def test_an_address_that_tries_many_codes_is_locked(participant: Participant) -> None:
    counted = buckets(code="X", address="10.0.0.9")
    for _number in range(MOST_FROM_AN_ADDRESS):
        FailedReturn.objects.note(counted[1:], wall=wall_now())
    assert tried(participant.code, REMOTE_ADDR="10.0.0.9").status_code == 429
    assert tried(participant.code, REMOTE_ADDR="10.0.0.8").status_code == 302


def test_coming_in_forgives_the_code_but_not_the_address(participant: Participant) -> None:
    for _number in range(MOST_FOR_A_CODE - 1):
        tried(participant.code, "wrong")
    assert tried(participant.code).status_code == 302
    [left] = FailedReturn.objects.all()
    assert (left.key, left.failures) == (
        buckets(code="", address="127.0.0.1")[1].key,
        MOST_FOR_A_CODE - 1,
    )


def test_the_directories_hold_no_code_and_no_address(participant: Participant) -> None:
    tried(participant.code, "wrong")
    for rows in (ReturnKey.objects.values_list(), FailedReturn.objects.values_list()):
        assert participant.code not in str(list(rows))
        assert "127.0.0.1" not in str(list(rows))


def test_without_a_password_the_code_leads_nowhere(lab: Lab, participant: Participant) -> None:
    with lab_scope(lab.pk):
        participant.set_password("")
    assert ReturnKey.objects.count() == 0
    assert tried(participant.code, "").status_code == 400


def test_a_browser_forgets_by_a_click(participant: Participant) -> None:
    client = Client()
    tried(participant.code, client=client)
    assert client.get("/journey/forget/").status_code == 405
    answer = client.post("/journey/forget/")
    assert "has forgotten you" in answer.content.decode()
    assert client.get("/journey/").status_code == 403
