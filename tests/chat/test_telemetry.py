"""How messages were written is kept of those who agreed to it, once, and of nobody else."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from chat import conversation
from chat.models import Writing
from experiments.enums import ConsentKind
from experiments.models import Lab, Participant, Session, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.journey.walking import browser_of
from tests.studies import enter, make_study, reference_of

pytestmark = pytest.mark.django_db

MEASURED = {
    "typing_ms": 5200, "pastes": 1, "pasted_characters": 40, "departures": 2, "away_ms": 900
}  # fmt: skip


@pytest.fixture
def study(lab: Lab) -> Study:
    return make_study(lab, telemetry_consent="I agree that typing times are recorded.")


def somebody(study: Study, *, agrees: bool | None) -> tuple[Participant, Session, UUID]:
    """A participant who has answered the separate consent, their session, and a message in it."""
    answers = {} if agrees is None else {ConsentKind.TELEMETRY: agrees}
    with lab_scope(study.lab_id):
        participant = Participant.objects.create(study=study)
        participant.give_consent(wall=wall_now(), agreed=answers)
    session, client_id = enter(participant), uuid4()
    where = conversation.SessionRef.of(reference_of(participant), session.pk)
    conversation.say(where, client_id=client_id, text="Hello", wall=wall_now())
    return participant, session, client_id


def post(participant: Participant, session: Session, body: Any) -> int:
    text = body if isinstance(body, str) else json.dumps(body)
    address = f"/chat/{session.pk}/writing/"
    client: Client = browser_of(participant)
    return client.post(address, text, content_type="application/json").status_code


def kept(lab: Lab) -> list[tuple[int, ...]]:
    with lab_scope(lab.pk):
        return list(Writing.objects.values_list(*MEASURED))


def test_it_is_kept_once(lab: Lab, study: Study) -> None:
    participant, session, client_id = somebody(study, agrees=True)
    sent = {"client_id": str(client_id), **MEASURED}
    assert post(participant, session, sent) == 204
    assert post(participant, session, {**sent, "pastes": 9}) == 204
    assert kept(lab) == [(5200, 1, 40, 2, 900)]
    page = browser_of(participant).get(f"/chat/{session.pk}/").content.decode()
    assert f"/chat/{session.pk}/writing/" in page


@pytest.mark.parametrize("agrees", [False, None])
def test_nothing_is_measured_of_whoever_has_not_agreed(
    lab: Lab, study: Study, agrees: bool | None
) -> None:
    participant, session, client_id = somebody(study, agrees=agrees)
    assert post(participant, session, {"client_id": str(client_id), **MEASURED}) == 404
    assert kept(lab) == []
    page = browser_of(participant).get(f"/chat/{session.pk}/").content.decode()
    assert "writing_url" not in page


def test_nothing_is_kept_of_others_messages_or_after_a_withdrawal(lab: Lab, study: Study) -> None:
    participant, session, client_id = somebody(study, agrees=True)
    other, _session, _theirs = somebody(study, agrees=True)
    sent = {"client_id": str(client_id), **MEASURED}
    assert post(other, session, sent) == 404
    assert post(participant, session, {**sent, "client_id": str(uuid4())}) == 404
    with lab_scope(lab.pk):
        participant.withdraw()
    assert post(participant, session, sent) == 404
    assert kept(lab) == []


@pytest.mark.parametrize(
    "change",
    [
        {"typing_ms": -1},
        {"typing_ms": 1.5},
        {"pastes": True},
        {"away_ms": "1"},
        {"departures": None},
        {"client_id": "1"},
    ],
)
def test_what_is_no_measurement_is_refused(lab: Lab, study: Study, change: dict[str, Any]) -> None:
    participant, session, client_id = somebody(study, agrees=True)
    assert post(participant, session, {"client_id": str(client_id), **MEASURED, **change}) == 400
    assert [post(participant, session, body) for body in ("", "[]", "{}")] == [400, 400, 400]
    assert kept(lab) == []


def test_more_than_a_day_is_a_day(lab: Lab, study: Study) -> None:
    participant, session, client_id = somebody(study, agrees=True)
    huge = dict.fromkeys(MEASURED, 10**12)
    assert post(participant, session, {"client_id": str(client_id), **huge}) == 204
    assert kept(lab) == [(86_400_000, 32_767, 86_400_000, 32_767, 86_400_000)]
