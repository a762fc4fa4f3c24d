"""What staff do in the back office, and that the audit log says so."""

from __future__ import annotations

import pytest
from django.core import signing
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from experiments.access import COOKIE, SALT
from experiments.enums import Language, StudyStatus
from experiments.middleware import LAB_KEY, ActiveLabMiddleware
from experiments.models import (
    Arm,
    AuditEntry,
    EntryLink,
    Lab,
    Member,
    Participant,
    ProviderKey,
    Study,
    User,
)
from experiments.study_templates import create_study
from memlab.core.due import Due
from memlab.core.ledger import Job, JobState
from memlab.core.tenancy import lab_scope
from tests.admin.crawl import tenant_admins
from tests.admin.filled import fill
from tests.people import PASSWORD, browser_of, member, person, signed_in
from tests.studies import enrol, enter, make_study


def audited(lab: Lab) -> list[tuple[str, str]]:
    """Action and kind of each entry, the oldest first."""
    with lab_scope(lab.pk):
        return list(AuditEntry.objects.order_by("pk").values_list("action", "target_kind"))


def test_signing_in_leads_to_the_only_lab(lab: Lab, client) -> None:
    member("Alice", lab)
    assert client.get("/admin/").status_code == 302
    response = client.post(
        "/admin/login/?next=/admin/",
        {"username": "alice@example.org", "password": PASSWORD},
        follow=True,
    )
    assert response.status_code == 200
    assert lab.name in response.content.decode()
    assert "'unsafe-eval'" in response["Content-Security-Policy"]
    assert "'unsafe-eval'" not in client.get("/health/")["Content-Security-Policy"]


def test_whoever_has_several_labs_chooses(lab: Lab, other_lab: Lab) -> None:
    member("Alice", lab)
    member("Alice", other_lab)
    client = browser_of(person("Alice"))
    assert client.get("/admin/").headers["Location"] == "/admin/lab/"
    page = client.get("/admin/lab/").content.decode()
    assert lab.name in page
    assert other_lab.name in page
    client.post("/admin/lab/", {"lab": other_lab.pk})
    assert other_lab.name in client.get("/admin/").content.decode()
    Member.objects.filter(lab_id=other_lab.pk).delete()
    assert client.get("/admin/").headers["Location"] == "/admin/lab/"


def test_a_stranger_to_a_lab_cannot_switch_in(lab: Lab, other_lab: Lab) -> None:
    client = signed_in("Charlie", other_lab)
    assert client.post("/admin/lab/", {"lab": lab.pk}).status_code == 404
    session = client.session
    session[LAB_KEY] = lab.pk
    session.save()
    assert client.get("/admin/").headers["Location"] == "/admin/lab/"


def test_an_operators_visit_is_in_the_labs_log(lab: Lab) -> None:
    client = browser_of(person("Olga", operator=True))
    assert client.get("/admin/").headers["Location"] == "/admin/lab/"
    assert lab.name not in client.get("/admin/lab/").content.decode()
    assert client.post("/admin/lab/", {"lab": lab.pk}).status_code == 302
    assert lab.name in client.get("/admin/").content.decode()
    assert audited(lab) == [("operator_switched_in", "")]
    assert client.get("/admin/chat/receipt/").status_code == 404


def test_an_exception_in_a_view_leaves_nothing(lab: Lab, monkeypatch) -> None:
    study = make_study(lab)
    client = signed_in("Alice", lab)
    client.raise_request_exception = False
    monkeypatch.setattr(AuditEntry.objects, "record", lambda *args, **kwargs: 1 / 0)
    address = f"/admin/experiments/study/{study.pk}/close/"
    with lab_scope(lab.pk):
        Study.objects.filter(pk=study.pk).update(status=StudyStatus.OPEN)
    assert client.post(address).status_code == 500
    with lab_scope(lab.pk):
        assert Study.objects.get(pk=study.pk).status == StudyStatus.OPEN


def test_a_study_starts_from_a_template_opens_and_gives_links(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    response = client.post(
        "/admin/experiments/study/add/",
        {"title": "Remembering", "language": "zh-hans", "template": "controlled"},
    )
    with lab_scope(lab.pk):
        study = Study.objects.get()
        assert [arm.architecture for arm in study.arms.all()] == [
            "sensory",
            "working",
            "gist",
            "hybrid",
        ]
        assert [stage.key for stage in study.stages.all()] == ["t1", "t2", "t3", "t4"]
        assert [stage.manipulation for stage in study.stages.all()] == [False, True, True, True]
    base = f"/admin/experiments/study/{study.pk}"
    assert response.headers["Location"] == f"{base}/change/"
    assert client.get(f"{base}/link/").status_code == 404  # a draft admits nobody
    with lab_scope(lab.pk):
        Study.objects.update(
            safety_contact_name="Ada", safety_contact_email="ada@example.org", hotlines="Help | 112"
        )
        sha256 = Study.objects.get().configuration().sha256()
    assert sha256 in client.get(f"{base}/launch/").content.decode()
    assert client.post(f"{base}/launch/", {"do": "open"}).status_code == 400  # not by a researcher
    owner = signed_in("Alice", lab)
    because = {
        "override-offline": "a pilot",
        "override-debriefing": "told in person",
        "override-validated": "stand-ins",
    }
    assert owner.post(f"{base}/launch/", {"do": "open", **because}).status_code == 302
    with lab_scope(lab.pk):
        assert Study.objects.get().status == StudyStatus.OPEN
        assert study.versions.get().sha256 == sha256
    page = client.post(f"{base}/link/")
    token = page.context["values"][0][1].rstrip("/").rpartition("/")[2]
    assert "no-store" in page["Cache-Control"]
    link = EntryLink.objects.find(token)
    assert link is not None
    assert (link.study_id, link.test_mode) == (study.pk, False)
    client.post(f"{base}/test-link/")
    client.post(f"{base}/close/")
    client.post(f"{base}/duplicate/", {"title": "Again"})
    with lab_scope(lab.pk):
        copy = Study.objects.get(title="Again")
        assert copy.status == StudyStatus.DRAFT
        assert copy.arms.count() == copy.stages.count() == 4
        assert copy.allocation_seed != study.allocation_seed
        for entry in AuditEntry.objects.all():
            assert token not in str(entry.details)
    assert [action for action, _kind in audited(lab)] == [
        "add",
        "override_launch",
        "override_launch",
        "override_launch",
        "open_study",
        "issue_link",
        "issue_link",
        "close_study",
        "add",
    ]


def unchanged(client: Client, address: str) -> dict[str, object]:
    """What a row's page would post if nothing were touched."""
    page = client.get(address).context
    forms = [page["adminform"].form]
    for inline in page["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.forms]
    posted: dict[str, object] = {}
    for bound in (each for form in forms for each in form):
        value = bound.value()
        if value is not None and value is not False:
            posted[bound.html_name] = "on" if value is True else value
    return posted


def test_a_change_is_logged_with_before_and_after(lab: Lab) -> None:
    study = make_study(lab, title="Old title")
    client = signed_in("Erin", lab)
    address = f"/admin/experiments/study/{study.pk}/change/"
    posted = unchanged(client, address) | {"title": "New title"}
    response = client.post(address, posted)
    assert response.status_code == 302, response.context["errors"]
    with lab_scope(lab.pk):
        entry = AuditEntry.objects.get(action="change")
        assert entry.details["fields"] == {"title": {"before": "Old title", "after": "New title"}}
        assert entry.user == person("Erin")
    history = client.get(f"/admin/experiments/study/{study.pk}/history/").content.decode()
    assert "Old title" in history
    assert "New title" in history
    assert "Erin" in history


def test_a_preset_gives_its_values_and_a_changed_value_makes_it_custom(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("controlled", title="A study", language=Language.ENGLISH)
        arm = study.arms.get(architecture="hybrid")
    client = signed_in("Erin", lab)
    address = f"/admin/experiments/arm/{arm.pk}/change/"
    posted = unchanged(client, address)
    assert posted["preset"] == "weekly"
    response = client.post(address, posted | {"preset": "spaced-sessions"})
    assert response.status_code == 302, response.context["errors"]
    with lab_scope(lab.pk):
        arm = Arm.objects.get(pk=arm.pk)
        assert (arm.preset, arm.parameters["initial_g"], arm.parameters["recall_threshold"]) == (
            "spaced-sessions",
            3.0,
            0.6,
        )
    posted = unchanged(client, address)
    assert client.post(address, posted | {"parameter_initial_g": "4.5"}).status_code == 302
    with lab_scope(lab.pk):
        arm = Arm.objects.get(pk=arm.pk)
        assert (arm.preset, arm.parameters["initial_g"]) == ("", 4.5)
    refused = client.post(address, posted | {"parameter_recall_threshold": "7"})
    assert "parameter_recall_threshold" in refused.context["adminform"].form.errors


def test_members_are_added_once_with_a_password_shown_once(lab: Lab, other_lab: Lab) -> None:
    client = signed_in("Alice", lab)
    page = client.post(
        "/admin/experiments/member/add/",
        {"email": "Fay@Example.org", "name": "Fay", "role": "assistant"},
    )
    password = page.context["values"][1][1]
    fay = User.objects.get(email="fay@example.org")
    assert fay.check_password(password)
    assert Member.objects.get(user=fay).lab_id == lab.pk
    again = client.post(
        "/admin/experiments/member/add/", {"email": "fay@example.org", "role": "owner"}
    )
    assert again.context["form"].errors
    member("Charlie", other_lab)
    known = client.post(
        "/admin/experiments/member/add/", {"email": "charlie@example.org", "role": "analyst"}
    )
    assert known.context["values"] == []
    assert person("Charlie").check_password(PASSWORD)
    with lab_scope(lab.pk):
        assert password not in str(list(AuditEntry.objects.values_list("details")))
    # An account that another lab uses too is neither renamed nor given a password from here.
    theirs = Member.objects.get(user=person("Charlie"), lab_id=lab.pk)
    base = f"/admin/experiments/member/{theirs.pk}"
    assert client.post(f"{base}/password/").status_code == 404
    client.post(f"{base}/change/", {"name": "Renamed", "role": "analyst"})
    assert person("Charlie").name == "Charlie"


def test_a_provider_key_goes_in_and_never_comes_out(lab: Lab) -> None:
    client = signed_in("Alice", lab)
    secret = "sk-canary-0123456789-abcd"
    client.post(
        "/admin/experiments/providerkey/add/",
        {"label": "Qwen", "provider": "dashscope", "base_url": "", "secret": secret},
    )
    with lab_scope(lab.pk):
        key = ProviderKey.objects.get()
        assert key.opened() == secret
    base = f"/admin/experiments/providerkey/{key.pk}"
    client.post(
        f"{base}/change/",
        {"label": "Qwen 2", "provider": "dashscope", "base_url": "", "secret": ""},
    )
    refused = client.post(
        f"{base}/change/",
        {
            "label": "",
            "provider": "dashscope",
            "base_url": "https://evil.example",
            "secret": secret,
        },
    )
    with lab_scope(lab.pk):
        assert ProviderKey.objects.get().opened() == secret
        logged = str(list(AuditEntry.objects.values_list("details", flat=True)))
    pages = [refused, *(client.get(f"{base}/{page}/") for page in ("change", "history", "delete"))]
    pages.append(client.get("/admin/experiments/providerkey/"))
    for page in pages:
        assert secret not in page.content.decode()
    assert secret not in logged
    assert "replaced" in logged


def test_a_step_that_was_given_up_is_tried_again(lab: Lab) -> None:
    fill(lab, "CANARYALICE")
    client = signed_in("Alice", lab)
    job = Job.objects.get(lab_id=lab.pk)
    assert "given up" in client.get("/admin/").content.decode()
    assert client.post(f"/admin/core/job/{job.pk}/again/").status_code == 302
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.PENDING, 0)
    assert Due.objects.filter(kind="steps", subject=job.participant).exists()
    assert client.post(f"/admin/core/job/{job.pk}/again/").status_code == 404


@pytest.mark.parametrize("kind", ["study", "participant", "session", "arm", "consent"])
def test_a_list_costs_as_many_queries_for_three_rows_as_for_one(lab: Lab, kind: str) -> None:
    client = signed_in("Alice", lab)
    counts = []
    for rows in (1, 2):
        for _ in range(rows):
            study = make_study(lab)
            enter(enrol(study))
        client.get(f"/admin/experiments/{kind}/")
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/admin/experiments/{kind}/").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] <= 16


def test_every_list_is_in_the_menu_of_an_owner(lab: Lab) -> None:
    page = signed_in("Alice", lab).get("/admin/").content.decode()
    for pages in tenant_admins():
        assert pages.list_url() in page


def test_participants_never_reach_the_back_office(lab: Lab, client) -> None:
    study = make_study(lab)
    participant = enrol(study)
    client.cookies[COOKIE] = signing.dumps([lab.pk, str(participant.public_id)], salt=SALT)
    assert client.get("/admin/experiments/study/").status_code == 302
    with lab_scope(lab.pk):
        assert Participant.objects.count() == 1


def test_a_participants_request_asks_the_database_nothing(lab: Lab) -> None:
    request = RequestFactory().get("/")
    with CaptureQueriesContext(connection) as queries:
        ActiveLabMiddleware(lambda request: HttpResponse())(request)
    found = vars(request)
    assert (found["member"], found["lab_id"]) == (None, None)
    assert len(queries) == 0


def test_a_draft_is_deleted_and_the_log_keeps_its_name(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("controlled", title="Never opened", language=Language.ENGLISH)
    client = signed_in("Erin", lab)
    base = f"/admin/experiments/study/{study.pk}/delete/"
    assert "Never opened" in client.get(base).content.decode()
    assert client.post(base, {"post": "yes"}).status_code == 302
    with lab_scope(lab.pk):
        assert not Study.objects.exists()
        assert AuditEntry.objects.get(action="delete").details == {"name": "Never opened"}


def test_a_study_somebody_is_in_cannot_be_deleted(lab: Lab) -> None:
    study = make_study(lab)
    enrol(study)
    client = signed_in("Alice", lab)
    base = f"/admin/experiments/study/{study.pk}/delete/"
    assert client.post(base, {"post": "yes"}).status_code == 404
    with lab_scope(lab.pk):
        assert Study.objects.exists()


def test_an_arm_says_what_can_be_recalled_after_each_gap(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("controlled", title="A study", language=Language.ENGLISH)
        hybrid, sensory = study.arms.get(key="l4"), study.arms.get(key="l1")
    client = signed_in("Erin", lab)
    page = client.get(f"/admin/experiments/arm/{hybrid.pk}/change/").content.decode()
    assert "Recall feasibility" in page
    assert "0.475" in page  # least recallable relevance after a week under the preset weekly
    assert "feasible" in page
    with lab_scope(lab.pk):
        Arm.objects.filter(pk=hybrid.pk).update(
            parameters=hybrid.parameters | {"initial_g": 1.0, "recall_threshold": 0.86}, preset=""
        )
    page = client.get(f"/admin/experiments/arm/{hybrid.pk}/change/").content.decode()
    assert "nothing can be recalled" in page
    page = client.get(f"/admin/experiments/arm/{sensory.pk}/change/").content.decode()
    assert "Recall feasibility" not in page
