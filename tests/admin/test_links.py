"""Staff make links, revoke them, and look at identifiers only into the log."""

from __future__ import annotations

import csv
import io
from base64 import b64decode
from urllib.parse import urlsplit

import pytest
from django.test import Client

from experiments.enums import IdentifierKind
from experiments.models import (
    AuditEntry,
    EntryLink,
    Identifier,
    Identity,
    IssuedLink,
    Lab,
    Participant,
    Recruiter,
    Study,
    Tombstone,
)
from memlab.core.tenancy import lab_scope
from tests.entering import enter
from tests.people import signed_in
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(lab: Lab) -> Study:
    study = make_study(lab)
    with lab_scope(lab.pk):
        study.open()
    return study


def base(study: Study) -> str:
    return f"/admin/experiments/study/{study.pk}"


def test_a_link_is_found_again_by_its_label_and_revoked(lab: Lab, study: Study) -> None:
    client = signed_in("Erin", lab)
    page = client.post(f"{base(study)}/link/", {"label": "Poster in the canteen"})
    path = urlsplit(page.context["values"][0][1]).path
    assert Client().get(path).status_code == 200
    assert "Poster in the canteen" in client.get("/admin/experiments/issuedlink/").content.decode()
    with lab_scope(lab.pk):
        issued = IssuedLink.objects.get()
    address = f"/admin/experiments/issuedlink/{issued.pk}/revoke/"
    client.get(address)
    assert Client().get(path).status_code == 200
    client.post(address)
    assert Client().get(path).status_code == 404
    assert client.get(address).status_code == 404  # revoked once is enough
    with lab_scope(lab.pk):
        actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["issue_link", "revoke_link"]


def test_personal_links_are_made_from_a_list_and_shown_once(lab: Lab, study: Study) -> None:
    client = signed_in("Erin", lab)
    pasted = {"people": "Ada@Example.org\n\n P-017 \n=2+3\n", "days": "30"}
    page = client.post(f"{base(study)}/invite/", pasted)
    assert "no-store" in page["Cache-Control"]
    encoded = page.context["download"].partition("base64,")[2]
    rows = list(csv.reader(io.StringIO(b64decode(encoded).decode("utf-8-sig"))))
    assert rows[0] == ["person", "code", "link"]
    assert [row[0] for row in rows[1:]] == ["Ada@Example.org", "P-017", "'=2+3"]
    assert enter(Client(), urlsplit(rows[1][2]).path)[-1] == "/journey/"
    with lab_scope(lab.pk):
        people = {str(each.pk): each for each in Participant.objects.all()}
        kinds = Identifier.objects.order_by("pk").values_list("kind", flat=True)
        assert list(kinds) == ["email", "code", "code"]
        assert {each.code for each in people.values()} == {row[1] for row in rows[1:]}
        told = str(list(AuditEntry.objects.values_list("details", flat=True)))
    assert "Ada" not in told
    assert "P-017" not in told


def test_whoever_is_invited_again_stays_one_participant(lab: Lab, study: Study) -> None:
    client = signed_in("Erin", lab)
    for line in ("ada@example.org", "ADA@example.org"):
        client.post(f"{base(study)}/invite/", {"people": line, "days": "30"})
    with lab_scope(lab.pk):
        assert (Participant.objects.count(), Identifier.objects.count()) == (1, 1)
        assert IssuedLink.objects.count() == 2
    assert EntryLink.objects.filter(lab_id=lab.pk).count() == 2


def test_a_list_with_mistakes_names_every_line_and_invites_nobody(lab: Lab, study: Study) -> None:
    with lab_scope(lab.pk):
        gone = enrol(study)
        Identifier.objects.keep(gone, Identity(IdentifierKind.EMAIL, "gone@example.org"))
        Tombstone.objects.lay(gone)
        Identifier.objects.all().delete()
    pasted = "ada@example.org\nada@\nADA@example.org\ngone@example.org\n" + "x" * 61
    page = signed_in("Erin", lab).post(f"{base(study)}/invite/", {"people": pasted, "days": "30"})
    assert page.context["form"].errors["people"] == [
        "Line 2: ada@ is no e-mail address.",
        "Line 3: ADA@example.org is there twice.",
        "Line 4: these data were erased, and nobody is enrolled again after that.",
        "Line 5: a code has at most 60 characters.",
    ]
    with lab_scope(lab.pk):
        assert (Identifier.objects.count(), IssuedLink.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("name", "listed", "looked"), [("Alice", 200, 200), ("Erin", 200, 200), ("Bob", 404, 404)]
)
def test_who_may_look_at_an_identifier(
    lab: Lab, study: Study, name: str, listed: int, looked: int
) -> None:
    participant = enrol(study)
    with lab_scope(lab.pk):
        row = Identifier.objects.keep(
            participant, Identity(IdentifierKind.EMAIL, "ada@example.org")
        )
    client = signed_in(name, lab)
    overview = client.get("/admin/experiments/identifier/")
    asked = client.get(f"/admin/experiments/identifier/{row.pk}/look/")
    shown = client.post(f"/admin/experiments/identifier/{row.pk}/look/")
    assert (overview.status_code, shown.status_code) == (listed, looked)
    assert b"ada@example.org" not in overview.content + asked.content
    assert (b"ada@example.org" in shown.content) is (looked == 200)
    with lab_scope(lab.pk):
        logged = AuditEntry.objects.filter(action="see_identifier").count()
    assert logged == (1 if looked == 200 else 0)


def test_a_recruiter_has_addresses_to_copy(lab: Lab, study: Study) -> None:
    with lab_scope(lab.pk):
        recruiter = Recruiter.objects.create(study=study)
    client = signed_in("Erin", lab)
    page = client.get(f"/admin/experiments/recruiter/{recruiter.pk}/addresses/")
    assert [value for _name, value in page.context["values"]] == [
        f"http://testserver/join/{token}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        for token in (recruiter.token, recruiter.test_token)
    ]
    assert recruiter.token in client.get(f"{base(study)}/change/").content.decode()
    with lab_scope(lab.pk):
        recruiter.delete()
    assert Client().get(f"/join/{recruiter.token}/").status_code == 404
