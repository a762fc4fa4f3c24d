"""The pages of a questionnaire: for its participant alone, and clear about every refusal."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core import signing
from django.test import Client
from django.urls import reverse

from experiments.access import COOKIE, SALT
from experiments.enums import Language, Moment, ParticipantState
from experiments.models import Lab, Participant, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from questionnaires import external, responses
from questionnaires.enums import ResponseState
from questionnaires.external import LIFETIME, Errand
from questionnaires.models import Answer, Response
from tests.questionnaires.asked import PETS, asked
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db

FIRST = {"like_1": 6, "like_2": 2, "check": 2}
ONWARD = "/journey/onward/"
SURVEY = "https://survey.example/s?id={token}&who={code}"


def browser_of(participant: Participant | None, **options: Any) -> Client:
    client = Client(**options)
    if participant is not None:
        owner = [participant.lab_id, str(participant.public_id)]
        client.cookies[COOKIE] = signing.dumps(owner, salt=SALT)
    return client


def opened(participant: Participant) -> Response:
    with lab_scope(participant.lab_id):
        response = responses.next_open(participant, Moment.AFTER, "T1", wall=wall_now())
    assert response is not None
    return response


def state_of(response: Response) -> str:
    with lab_scope(response.lab_id):
        response.refresh_from_db()
    return str(response.state)


def page_of(response: Response) -> str:
    return reverse("questionnaires:answer", args=[response.pk])


def post(client: Client, response: UUID, body: object, **headers: str) -> Any:
    url = reverse("questionnaires:save", args=[response])
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(url, text, content_type="application/json", headers=headers)


def sent(page: int, revision: int, answers: dict[str, Any]) -> dict[str, Any]:
    return {"page": page, "revision": revision, "seconds": 3.5, "answers": answers}


@pytest.fixture
def study(lab: Lab) -> Study:
    return make_study(lab)


@pytest.fixture
def participant(study: Study) -> Participant:
    return asked(study, PETS)


def test_page_holds_the_questionnaire_where_it_was_left(participant: Participant) -> None:
    response, client = opened(participant), browser_of(participant)
    post(client, response.pk, sent(1, 0, FIRST))
    page = client.get(page_of(response))
    config = page.context["questionnaire"]
    assert (page.status_code, config["page"], config["revision"]) == (200, 2, 1)
    assert config["answers"] == FIRST
    assert "no-store" in page["Cache-Control"]


def test_page_does_not_say_what_is_measured(participant: Participant) -> None:
    page = browser_of(participant).get(page_of(opened(participant))).content.decode()
    assert "After the conversation" in page
    assert "Pets" not in page


def test_saving_leads_from_page_to_page_and_on(participant: Participant) -> None:
    response, client = opened(participant), browser_of(participant)
    assert post(client, response.pk, sent(1, 0, FIRST)).json() == {"page": 2, "revision": 1}
    assert post(client, response.pk, sent(2, 1, {"pet": 1})).json() == {"onward_url": ONWARD}
    assert client.get(page_of(response))["Location"] == ONWARD


def test_errors_are_told_at_their_items_in_the_study_language(lab: Lab) -> None:
    participant = asked(make_study(lab, language=Language.CHINESE), PETS)
    refused = post(
        browser_of(participant), opened(participant).pk, sent(1, 0, {**FIRST, "check": 9})
    )
    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["check"]


def test_stale_tab_gets_a_clear_answer(participant: Participant) -> None:
    response, client = opened(participant), browser_of(participant)
    post(client, response.pk, sent(1, 0, FIRST))
    refused = post(client, response.pk, sent(1, 0, {**FIRST, "like_1": 1}))
    assert (refused.status_code, refused.json()["reload_url"]) == (409, page_of(response))


NO_PAGES: list[object] = [
    "",
    "{",
    "[]",
    b"\xff",
    "[" * 100_000,
    {"page": 1},
    sent(1, 0, FIRST) | {"page": "1"},
    sent(1, 0, FIRST) | {"page": True},
    sent(1, 0, FIRST) | {"answers": []},
    sent(1, 0, FIRST) | {"seconds": -1},
    sent(1, 0, FIRST) | {"seconds": float("nan")},
    sent(1, 0, FIRST) | {"seconds": "3"},
]


def test_what_is_no_page_is_refused(participant: Participant) -> None:
    response, client = opened(participant), browser_of(participant)
    assert {post(client, response.pk, body).status_code for body in NO_PAGES} == {400}
    with lab_scope(participant.lab_id):
        assert not Answer.objects.exists()


def test_questionnaire_is_its_participants_alone(participant: Participant, study: Study) -> None:
    response, other = opened(participant), browser_of(enrol(study))
    assert other.get(page_of(response)).status_code == 404
    assert post(other, response.pk, sent(1, 0, FIRST)).status_code == 404
    assert post(browser_of(None), response.pk, sent(1, 0, FIRST)).status_code == 403
    assert post(browser_of(participant), uuid4(), sent(1, 0, FIRST)).status_code == 404


def test_saving_needs_the_csrf_token(participant: Participant) -> None:
    response, client = opened(participant), browser_of(participant, enforce_csrf_checks=True)
    assert post(client, response.pk, sent(1, 0, FIRST)).status_code == 403
    token = client.get(page_of(response)).context["csrf_token"]
    saved = post(client, response.pk, sent(1, 0, FIRST), **{"X-CSRFToken": str(token)})
    assert saved.status_code == 200


def test_nobody_answers_after_withdrawal(participant: Participant) -> None:
    response, client = opened(participant), browser_of(participant)
    with lab_scope(participant.lab_id):
        Participant.objects.update(state=ParticipantState.WITHDRAWN)
    assert client.get(page_of(response)).status_code == 409
    refused = post(client, response.pk, sent(1, 0, FIRST))
    assert (refused.status_code, refused.json()["onward_url"]) == (403, ONWARD)


# External surveys


@pytest.fixture
def traveller(study: Study) -> Participant:
    return asked(study, SURVEY)


def back(client: Client, token: str) -> Any:
    return client.get(reverse("questionnaires:returned"), {"token": token})


def token_of(response: Response) -> str:
    return external.token(Errand(response.lab_id, response.pk), wall=wall_now())


def test_page_leads_to_the_survey_with_a_token(traveller: Participant) -> None:
    response = opened(traveller)
    page = browser_of(traveller).get(page_of(response))
    address = page.context["address"]
    assert address.startswith("https://survey.example/s?id=")
    assert address.endswith(f"&who={traveller.code}")
    token = address.removeprefix("https://survey.example/s?id=").partition("&")[0]
    assert external.errand(token, wall=wall_now()) == Errand(traveller.lab_id, response.pk)


def test_return_completes_once_and_leads_on(traveller: Participant) -> None:
    response, client = opened(traveller), browser_of(traveller)
    token = token_of(response)
    assert back(client, token)["Location"] == ONWARD
    with lab_scope(traveller.lab_id):
        response.refresh_from_db()
        first = response.completed_at
    assert back(client, token)["Location"] == ONWARD
    assert (state_of(response), response.completed_at) == (ResponseState.COMPLETE, first)


def test_return_in_another_browser_completes_and_says_where_to_go(traveller: Participant) -> None:
    response = opened(traveller)
    arrived = back(browser_of(None), token_of(response))
    assert (arrived.status_code, state_of(response)) == (200, ResponseState.COMPLETE)


def test_forged_replayed_and_old_returns_are_refused(
    traveller: Participant, study: Study, lab: Lab
) -> None:
    response = opened(traveller)
    token, stranger = token_of(response), browser_of(enrol(study))
    old = external.token(Errand(lab.pk, response.pk), wall=wall_now() - LIFETIME)
    nowhere = external.token(Errand(lab.pk, uuid4()), wall=wall_now())
    statuses = [
        back(browser_of(traveller), token[1:] + token[0]).status_code,
        back(browser_of(traveller), "").status_code,
        back(browser_of(traveller), old).status_code,
        back(browser_of(traveller), nowhere).status_code,
        back(stranger, token).status_code,
    ]
    assert (statuses, state_of(response)) == ([403] * 5, ResponseState.OPEN)


def test_return_under_the_parameter_of_wjx_is_understood(traveller: Participant) -> None:
    response = opened(traveller)
    url = reverse("questionnaires:returned")
    arrived = browser_of(traveller).get(url, {"sojumpparm": token_of(response)})
    assert (arrived["Location"], state_of(response)) == (ONWARD, ResponseState.COMPLETE)


def test_return_completes_no_questionnaire_of_ours(participant: Participant) -> None:
    response = opened(participant)
    assert back(browser_of(participant), token_of(response)).status_code == 409
    assert state_of(response) == ResponseState.OPEN


def test_return_after_withdrawal_is_refused(traveller: Participant) -> None:
    response = opened(traveller)
    with lab_scope(traveller.lab_id):
        Participant.objects.update(state=ParticipantState.WITHDRAWN)
    assert back(browser_of(traveller), token_of(response)).status_code == 409
    assert state_of(response) == ResponseState.OPEN


def test_page_of_a_survey_elsewhere_takes_no_answers(traveller: Participant) -> None:
    response = opened(traveller)
    refused = post(browser_of(traveller), response.pk, sent(1, 0, FIRST))
    assert refused.status_code == 409
