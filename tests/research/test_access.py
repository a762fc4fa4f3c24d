"""Everything about a person in one file; what tells the arm is held apart from whom it is kept."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from experiments.access import COOKIE, remember
from experiments.enums import AuditAction, ParticipantState, StudyStatus
from experiments.models import AuditEntry, Lab, Participant, Study, Withdrawal
from memlab.core.personal import rules
from memlab.core.tenancy import lab_scope
from tests.admin.filled import FilledLab, fill
from tests.people import signed_in
from tests.studies import reference_of

MINE = reverse("research:my_data")


@pytest.fixture
def filled(lab: Lab) -> FilledLab:
    return fill(lab, "CANARYALICE")


def everything(filled: FilledLab) -> str:
    return f"/admin/experiments/participant/{filled.participant.pk}/everything/"


def own_browser(filled: FilledLab) -> Client:
    response = HttpResponse()
    remember(response, reference_of(filled.participant))
    client = Client()
    client.cookies[COOKIE] = response.cookies[COOKIE].value
    return client


def opened(content: bytes) -> tuple[str, dict[str, list[dict[str, Any]]], str]:
    """README, data, and all that can be read in the file."""
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        readme, data = files.read("README.txt").decode(), files.read("data.json").decode()
    return readme, json.loads(data), readme + data


def unblinded(client: Client, filled: FilledLab) -> Client:
    address = f"/admin/experiments/participant/{filled.participant.pk}/unblind/"
    assert client.post(address, {"reason": "asked for it"}).status_code == 302
    return client


def test_blinded_staff_get_everything_but_what_tells_the_arm(filled: FilledLab) -> None:
    given = signed_in("Erin", filled.lab).post(everything(filled))
    readme, tables, text = opened(given.content)
    assert "Held apart until the study is closed" in readme
    assert [row["text"] for row in tables["chat.Message"]] == [
        "CANARYALICE opening",
        "CANARYALICE said",
        "CANARYALICE answered",
        "CANARYALICE said twice",
        "",
    ]
    assert tables["experiments.Identifier"][0]["value"]
    assert not {"memory.Episode", "chat.Receipt", "experiments.Allocation"} & set(tables)
    for word in filled.arm_words:
        if word != "hybrid":
            assert word not in text, word
    with lab_scope(filled.lab.pk):
        entry = AuditEntry.objects.get(action=AuditAction.SUBJECT_ACCESS)
        assert entry.details == {"with_arm": False}


def test_unblinded_staff_get_all_of_it_and_no_secret(filled: FilledLab) -> None:
    client = unblinded(signed_in("Alice", filled.lab), filled)
    readme, tables, _text = opened(client.post(everything(filled)).content)
    assert "Held apart" not in readme
    assert set(tables) == {rule.model for rule in rules()}
    assert tables["memory.Episode"][0]["vector"] == [1.0, 0.0]
    assert tables["memory.Episode"][0]["text"] == filled.evidence
    for model, hidden in (
        ("experiments.Participant", "password"),
        ("experiments.Identifier", "digest"),
        ("experiments.Withdrawal", "code_hash"),
    ):
        assert hidden not in tables[model][0]


@pytest.mark.parametrize("name", ["Bob", "Dora", "Charlie"])
def test_others_do_not_get_it(name: str, filled: FilledLab, other_lab: Lab) -> None:
    client = signed_in(name, other_lab if name == "Charlie" else filled.lab)
    assert client.get(everything(filled)).status_code == 404
    assert client.post(everything(filled)).status_code == 404


def test_participants_take_their_own_and_the_rest_once_the_study_is_closed(
    filled: FilledLab,
) -> None:
    client = own_browser(filled)
    assert "held apart until the study is closed" in client.get(MINE).content.decode()
    given = client.post(MINE)
    assert "no-store" in given["Cache-Control"]
    assert filled.evidence not in opened(given.content)[2]
    with lab_scope(filled.lab.pk):
        Study.objects.update(status=StudyStatus.CLOSED)
    assert filled.evidence not in opened(client.post(MINE).content)[2]  # they still go on
    with lab_scope(filled.lab.pk):
        Participant.objects.update(state=ParticipantState.COMPLETE)
    assert filled.evidence in opened(client.post(MINE).content)[2]


def pages_that_lead_there(client: Client) -> list[str]:
    """Of a participant's own pages, those with a link to their data."""
    found = []
    for name in ("home", "end", "withdraw", "withdrawn"):
        page = client.get(reverse(f"journey:{name}"))
        if page.status_code == 200 and f'href="{MINE}"' in page.content.decode():
            found.append(name)
    return found


def test_participants_find_their_data_from_their_pages_also_after_they_left(
    filled: FilledLab,
) -> None:
    with lab_scope(filled.lab.pk):
        Withdrawal.objects.all().delete()
    client = own_browser(filled)
    assert pages_that_lead_there(client) == ["home", "withdraw"]
    done = client.post(reverse("journey:withdraw"), {"kind": "all", "confirm": "yes"}, follow=True)
    assert f'href="{MINE}"' in done.content.decode()
    assert pages_that_lead_there(client) == ["end", "withdraw", "withdrawn"]
    assert client.post(MINE).status_code == 200


def test_a_study_may_leave_it_to_its_staff(filled: FilledLab) -> None:
    with lab_scope(filled.lab.pk):
        Study.objects.update(self_access=False)
    client = own_browser(filled)
    assert client.get(MINE).status_code == 404
    assert pages_that_lead_there(client) == []


# Staff withdraw


def withdraw_page(filled: FilledLab) -> str:
    return f"/admin/experiments/participant/{filled.participant.pk}/withdraw/"


def test_staff_withdraw_with_the_code_and_it_is_logged(filled: FilledLab) -> None:
    client = signed_in("Erin", filled.lab)
    wrong = client.post(withdraw_page(filled), {"kind": "erase", "code": "NOTHING"})
    assert "This is not the code of this participant." in wrong.content.decode()
    done = client.post(
        withdraw_page(filled), {"kind": "erase", "code": filled.participant.code, "reason": "wish"}
    )
    assert "their receipt, shown only now" in done.content.decode()
    with lab_scope(filled.lab.pk):
        row = Withdrawal.objects.get(kind="erase")
        assert (row.requested_by, row.reason) == ("staff", "wish")
        assert row.user is not None
        assert row.user.name == "Erin"
        assert AuditEntry.objects.filter(action=AuditAction.WITHDRAW).count() == 1
        assert Participant.objects.get(pk=filled.participant.pk).state == "withdrawn"


def test_assistants_withdraw_people_but_remove_nothing(filled: FilledLab) -> None:
    client = signed_in("Bob", filled.lab)
    page = client.get(withdraw_page(filled)).content.decode()
    assert 'value="all"' in page
    assert 'value="erase"' not in page
    client.post(withdraw_page(filled), {"kind": "erase", "code": filled.participant.code})
    with lab_scope(filled.lab.pk):
        assert not Withdrawal.objects.filter(kind="erase").exists()
