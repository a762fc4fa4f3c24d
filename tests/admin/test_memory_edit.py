"""Staff's own words in a memory: who may, what it says then, and that both logs say so."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from experiments.enums import MemberRole
from experiments.models import AuditEntry, Lab
from experiments.rights import UNBLINDED
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memory.enums import EventKind
from memory.models import Compressible, MemoryEvent
from tests.admin.filled import FilledLab, fill
from tests.people import browser_of, member, person, signed_in

WORDS = {
    "text": "I am a  baker",
    "topic": "bread",
    "tags": "#job: baker\n\nhome town:Rome",
    "reason": "asked for by the participant",
}


@pytest.fixture
def filled(lab: Lab) -> FilledLab:
    return fill(lab, "CANARY")


def unblinded(client: Client, filled: FilledLab) -> Client:
    session = client.session
    session[UNBLINDED] = {"lab": filled.lab.pk, "studies": [filled.study.pk], "participants": []}
    session.save()
    return client


@pytest.fixture
def alice(filled: FilledLab) -> Client:
    return unblinded(signed_in("Alice", filled.lab), filled)


def memory_of(filled: FilledLab) -> Compressible:
    with lab_scope(filled.lab.pk):
        row: Compressible = Compressible.objects.get()
        return row


def page(filled: FilledLab, slug: str = "edit") -> str:
    return f"/admin/memory/compressible/{memory_of(filled).pk}/{slug}/"


def submitted(client: Client, filled: FilledLab, **changes: Any) -> Any:
    revision = memory_of(filled).revision
    return client.post(page(filled), {**WORDS, "revision": revision, **changes})


def test_an_edit_is_in_the_memory_its_log_and_the_audit_log(
    alice: Client, filled: FilledLab
) -> None:
    before = memory_of(filled)
    shown = alice.get(page(filled)).content.decode()
    assert filled.evidence in shown
    assert page(filled) in alice.get(page(filled, "change")).content.decode()
    assert submitted(alice, filled).status_code == 302
    after = memory_of(filled)
    assert (after.text, after.topic, after.tags) == (
        "I am a baker",
        "bread",
        ["#job:baker", "#home_town:Rome"],
    )
    assert (after.level, after.weight, after.activated_at) == ("full", 1.0, before.activated_at)
    with lab_scope(filled.lab.pk):
        event = MemoryEvent.objects.get(event=EventKind.EDITED)
        entry = AuditEntry.objects.get(action="edit_memory")
    assert (event.cause, event.before["text"], event.after["text"]) == (
        "staff",
        filled.evidence,
        "I am a baker",
    )
    assert event.note == {
        "trigger": "manual_edit",
        "reason": "asked for by the participant",
    }
    assert (entry.user_id, entry.target_id) == (person("Alice").pk, str(after.pk))
    assert entry.details == {
        "changed": ["text", "topic", "tags"],
        "reason": "asked for by the participant",
    }
    due = Due.objects.get(kind=DueKind.MAINTAIN, subject=filled.participant.public_id)
    assert due.study_at == after.due_at == event.study_at
    assert due.wall_at is not None


def test_what_has_changed_meanwhile_is_not_overwritten(alice: Client, filled: FilledLab) -> None:
    with lab_scope(filled.lab.pk):
        Compressible.objects.update(revision=3, text="fresh")
    response = submitted(alice, filled, revision=2)
    assert response.status_code == 200
    assert "changed in the meantime" in response.content.decode()
    assert memory_of(filled).text == "fresh"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "x" * 1501}, "text"),
        ({"topic": "t" * 41}, "topic"),
        ({"tags": "no tag"}, "tags"),
        ({"tags": "#a:" + "b" * 90}, "tags"),
        ({"tags": "\n".join(f"#a:{n}" for n in range(13))}, "tags"),
        ({"reason": ""}, "reason"),
    ],
)
def test_what_a_memory_cannot_say_is_refused(
    alice: Client, filled: FilledLab, changes: dict[str, str], field: str
) -> None:
    response = submitted(alice, filled, **changes)
    assert response.status_code == 200
    assert list(response.context["form"].errors) == [field]
    assert memory_of(filled).text == filled.evidence


@pytest.mark.parametrize(
    ("level", "fields"),
    [
        ("summary", ["text", "topic", "tags", "reason", "revision"]),
        ("tag", ["topic", "tags", "reason", "revision"]),
        ("trace", ["topic", "reason", "revision"]),
    ],
)
def test_only_what_is_left_can_be_edited(
    alice: Client, filled: FilledLab, level: str, fields: list[str]
) -> None:
    with lab_scope(filled.lab.pk):
        Compressible.objects.update(level=level)
    form = alice.get(page(filled)).context["form"]
    assert list(form.fields) == fields
    assert submitted(alice, filled).status_code == 302
    assert (
        memory_of(filled).text
        == {
            "summary": "I am a baker",
            "tag": "#job:baker #home_town:Rome",
            "trace": "There was once something about bread",
        }[level]
    )


def test_nothing_is_left_to_edit_of_an_archived_memory(alice: Client, filled: FilledLab) -> None:
    with lab_scope(filled.lab.pk):
        Compressible.objects.update(level="archive")
    assert alice.get(page(filled)).status_code == 404
    assert submitted(alice, filled).status_code == 404


def test_only_an_unblinded_owner_may_edit(filled: FilledLab, other_lab: Lab) -> None:
    blinded = signed_in("Alice", filled.lab)
    analyst = unblinded(signed_in("Dora", filled.lab), filled)
    outsider = unblinded(signed_in("Charlie", other_lab), filled)
    researcher = member("Erin", filled.lab, MemberRole.RESEARCHER)
    researcher.may_unblind = True
    researcher.save()
    reader = unblinded(browser_of(person("Erin")), filled)
    for client in (blinded, analyst, outsider, reader):
        assert client.get(page(filled)).status_code == 404
        assert submitted(client, filled).status_code == 404
    assert reader.get(page(filled, "change")).status_code == 200
    assert memory_of(filled).text == filled.evidence
