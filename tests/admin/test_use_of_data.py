"""What was answered after the debriefing to whether the data may be used, as staff see it."""

from __future__ import annotations

import pytest

from experiments.models import Lab, Participant
from experiments.models.debriefing import answer_debriefing
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.people import signed_in
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db
PEOPLE = "/admin/experiments/participant/"


def debriefed(lab: Lab) -> dict[str, Participant]:
    """Somebody who refused the use of their data, somebody who agreed, somebody unasked."""
    study = make_study(lab)
    people = {answer: enrol(study) for answer in ("refused", "agreed", "open")}
    with lab_scope(lab.pk):
        for answer in ("refused", "agreed"):
            agreed = answer == "agreed"
            answer_debriefing(people[answer], agreed=agreed, now=wall_now())
    return people


@pytest.mark.parametrize("wanted", ["refused", "agreed", "open"])
def test_participants_are_found_by_their_answer(lab: Lab, wanted: str) -> None:
    people = debriefed(lab)
    listed = signed_in("Bob", lab).get(PEOPLE, {"use": wanted}).content.decode()
    shown = [answer for answer, person in people.items() if person.code in listed]
    assert shown == [wanted]


def test_a_refusal_is_seen_in_the_list_and_on_the_participant_s_page(lab: Lab) -> None:
    people = debriefed(lab)
    client = signed_in("Dora", lab)
    listed = client.get(PEOPLE).context["cl"].result_list
    assert {row.code: row.use_answer for row in listed} == {
        people["refused"].code: False,
        people["agreed"].code: True,
        people["open"].code: None,
    }
    pages = {
        answer: client.get(f"{PEOPLE}{person.pk}/change/").content.decode()
        for answer, person in people.items()
    }
    assert [answer for answer, page in pages.items() if "refused" in page] == ["refused"]
    consents = client.get("/admin/experiments/consent/", {"agreed__exact": "0"}).content.decode()
    assert people["refused"].code in consents
    assert people["agreed"].code not in consents
