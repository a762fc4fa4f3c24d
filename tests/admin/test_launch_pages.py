"""The pages of a launch: who sees them, what they do, and what blinded staff never get."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from experiments.enums import StudyStatus
from experiments.models import (
    Allocation,
    AllocationCounter,
    AuditEntry,
    Deviation,
    DoorProbe,
    Lab,
    Participant,
    ProviderKey,
    Study,
    StudyVersion,
)
from experiments.rights import UNBLINDED
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research.launch.tasks import probe_models
from tests.people import signed_in
from tests.research.launchable import ready_study
from tests.standin import Answer, Fault, StandIn
from tests.studies import enrol

DESIGN = ("launch", "arms", "preview")


def page(study: Study, slug: str) -> str:
    return f"/admin/experiments/study/{study.pk}/{slug}/"


def audited(lab: Lab) -> list[str]:
    with lab_scope(lab.pk):
        return [entry.action for entry in AuditEntry.objects.order_by("pk")]


def status(study: Study) -> str:
    with lab_scope(study.lab_id):
        return str(Study.objects.get(pk=study.pk).status)


def opened(lab: Lab, study: Study) -> StudyVersion:
    assert signed_in("Alice", lab).post(page(study, "launch"), {"do": "open"}).status_code == 302
    with lab_scope(lab.pk):
        return StudyVersion.objects.get(opened_at__isnull=False)


def test_who_designs_sees_the_pages_and_nobody_else(lab: Lab, other_lab: Lab) -> None:
    study = ready_study(lab)
    for name in ("Alice", "Erin"):
        client = signed_in(name, lab)
        assert [client.get(page(study, slug)).status_code for slug in DESIGN] == [200, 200, 200]
    for name in ("Bob", "Dora"):
        client = signed_in(name, lab)
        assert [client.get(page(study, slug)).status_code for slug in DESIGN] == [404, 404, 404]
        assert client.get(page(study, "flow")).status_code == 200
    client = signed_in("Charlie", other_lab)
    assert {client.get(page(study, slug)).status_code for slug in (*DESIGN, "flow")} == {404}
    assert {client.post(page(study, slug)).status_code for slug in DESIGN} == {404}
    assert status(study) == StudyStatus.DRAFT


def test_a_researcher_opens_what_is_in_order_and_an_owner_what_is_not(lab: Lab) -> None:
    study = ready_study(lab, debriefing="")
    erin, alice = signed_in("Erin", lab), signed_in("Alice", lab)
    shown = erin.get(page(study, "launch")).content.decode()
    assert "Only an owner of the lab can open it" in shown
    assert "Freeze and open" not in shown
    forged = {"do": "open", "override-debriefing": "I say so"}
    refused = erin.post(page(study, "launch"), forged)
    assert refused.status_code == 400
    assert "participants never learn what was varied" in refused.content.decode()
    assert status(study) == StudyStatus.DRAFT
    assert 'name="override-debriefing"' in alice.get(page(study, "launch")).content.decode()
    assert alice.post(page(study, "launch"), forged).status_code == 302
    assert status(study) == StudyStatus.OPEN
    assert audited(lab) == ["override_launch", "open_study"]
    with lab_scope(lab.pk):
        (override,) = StudyVersion.objects.get().overrides
    assert (override["check"], override["reason"]) == ("debriefing", "I say so")


def test_an_amendment_is_shown_before_it_is_made(lab: Lab) -> None:
    study = ready_study(lab)
    first = opened(lab, study)
    client = signed_in("Erin", lab)
    assert "there is nothing to amend" in client.get(page(study, "launch")).content.decode()
    with lab_scope(lab.pk):
        early = enrol(Study.objects.get())
        Study.objects.update(persona="You are a brief companion, and a rather quiet one.")
    shown = client.get(page(study, "launch")).content.decode()
    assert "What the amendment changes in version 1" in shown
    assert "<ins>brief</ins>" in shown
    assert client.post(page(study, "launch"), {"do": "open"}).status_code == 400
    amended = {"do": "open", "reason": "It talked too much."}
    assert client.post(page(study, "launch"), amended).status_code == 302
    with lab_scope(lab.pk):
        second = StudyVersion.objects.get(number=2)
        late = enrol(Study.objects.get())
        early.refresh_from_db()
    assert (early.version_id, late.version_id) == (first.pk, second.pk)
    version = client.get(f"/admin/experiments/studyversion/{second.pk}/people/")
    assert "It talked too much." in version.content.decode()
    assert version.context["people"] == 1
    listed = client.get(version.context["participants_url"])
    assert [row.code for row in listed.context["cl"].result_list] == [late.code]
    assert audited(lab) == ["open_study", "amend_study"]


@pytest.mark.django_db(transaction=True)
def test_models_are_asked_for_real_and_outside_of_any_transaction(
    lab: Lab, standin: StandIn, settings
) -> None:
    settings.ALLOWED_MODEL_URLS = [standin.openai_url]
    study = ready_study(lab)
    with lab_scope(lab.pk):
        key = ProviderKey(label="key", provider="openai_compatible", base_url=standin.openai_url)
        key.seal("sk-of-this-lab")
        key.save()
        study.fallback_model = "gpt-4o-2024-08-06"
        for use in ("talking", "fallback", "extraction"):
            setattr(study, f"{use}_provider", "openai_compatible")
            setattr(study, f"{use}_key", key)
        study.save()
    client = signed_in("Erin", lab)
    asked = client.post(page(study, "launch"), {"do": "ask"})
    assert asked.status_code == 302
    waiting = client.get(asked.headers["Location"])
    assert waiting.headers["Refresh"] == "3"
    assert "are being asked" in waiting.content.decode()
    standin.script(
        [
            Answer(text="Hi", model="qwen-served"),
            Answer(text="Hi", model="gpt-served", match="gpt-4o-2024-08-06"),
            Answer(fault=Fault.STATUS, status=401, code="invalid_api_key"),
        ]
    )
    probe_models(study.lab_id, study.pk)
    assert [call.headers["authorization"] for call in standin.requests] == [
        "Bearer sk-of-this-lab"
    ] * 3
    with lab_scope(lab.pk):
        probes = list(DoorProbe.objects.filter(key=key).order_by("pk"))
    assert [(each.use, each.answered) for each in probes] == [
        ("talking", True),
        ("fallback", True),
        ("extraction", False),
    ]
    assert [each.answered_model for each in probes] == ["qwen-served", "gpt-served", ""]
    assert probes[2].failure.startswith("authentication")
    answered = client.get(asked.headers["Location"])
    assert "Refresh" not in answered.headers
    body = answered.content.decode()
    assert "answered as qwen-served" in body
    assert "answered as gpt-served" in body
    assert "sk-of-this-lab" not in body


def test_differences_are_declared_on_the_page_of_the_arms(lab: Lab) -> None:
    arms = {
        "l3": ("gist", {"gist_max_chars": 400}),
        "l4": ("hybrid", {"gist_max_chars": 900, "recall_threshold": 0.2}),
    }
    study = ready_study(lab, arms=arms)
    client = signed_in("Erin", lab)
    shown = client.get(page(study, "arms"))
    assert shown.context["undeclared"] == 1
    assert "1 undeclared difference." in shown.content.decode()
    # What doesn't differ can't be declared.
    declared = {"varied": ["gist_max_chars", "recent_turns", "nonsense"]}
    assert client.post(page(study, "arms"), declared).status_code == 302
    with lab_scope(lab.pk):
        assert Study.objects.get().varied == ["gist_max_chars"]
    assert client.get(page(study, "arms")).context["undeclared"] == 0
    assert client.post(page(study, "arms"), {}).status_code == 302
    with lab_scope(lab.pk):
        assert Study.objects.get().varied == []
    assert audited(lab) == ["declare_varied", "declare_varied"]


def test_a_preview_is_a_test_run_that_moves_no_sequence(lab: Lab) -> None:
    study = ready_study(lab)
    client = signed_in("Erin", lab)
    for _each in range(2):
        assert client.post(page(study, "preview"), {"arm": "hybrid"}).status_code == 302
    with lab_scope(lab.pk):
        people = list(Participant.objects.order_by("pk"))
        allocations = list(Allocation.objects.order_by("pk"))
        assert not AllocationCounter.objects.exists()
        assert not Deviation.objects.exists()
    assert [person.test_mode for person in people] == [True, True]
    assert [(row.arm_key, row.stratum, row.test_mode, row.position) for row in allocations] == [
        ("hybrid", "preview", True, 0),
        ("hybrid", "preview", True, 1),
    ]
    assert audited(lab) == ["preview", "preview"]
    entered = client.post(
        page(study, "preview"), {"do": "enter", "participant": people[0].public_id}
    )
    assert entered.headers["Location"] == "/journey/"
    assert "memlab_participant" in entered.cookies
    body = client.get("/journey/", follow=True).content.decode()
    for word in ("hybrid", "Hybrid", "preview"):
        assert word not in body
    with lab_scope(lab.pk):
        locked = Participant.objects.get(pk=people[0].pk)
        locked.give_consent(wall=wall_now())
        locked.skip(timedelta(days=2))
        arm = locked.arm()
        assert arm is not None
        assert arm.key == "hybrid"
        locked.allocate(study_at=wall_now())
        assert not AllocationCounter.objects.exists()


def preview_in(client: Client, study: Study, arm: str) -> str:
    """Make a test run; what the page says then."""
    made = client.post(page(study, "preview"), {"arm": arm}, follow=True)
    assert made.status_code == 200
    return made.content.decode()


def test_a_preview_whose_arm_was_amended_away_says_so(lab: Lab) -> None:
    study = ready_study(lab)
    client = signed_in("Erin", lab)
    assert "perhaps the study was amended" in preview_in(client, study, "nowhere")
    for _each in range(2):
        assert "no longer in the study" not in preview_in(client, study, "working")
    with lab_scope(lab.pk):
        agreed, waiting = Participant.objects.order_by("pk")
        agreed.give_consent(wall=wall_now())
    enter = {"do": "enter", "participant": waiting.public_id}
    assert client.post(page(study, "preview"), enter).headers["Location"] == "/journey/"
    with lab_scope(lab.pk):
        study.arms.filter(key="working").delete()
    told = client.get("/journey/", follow=True)
    assert told.status_code == 409
    assert "This test run is outdated" in told.content.decode()
    shown = client.get(page(study, "preview")).content.decode()
    assert shown.count("Its arm is no longer in the study.") == 1
    refused = client.post(page(study, "preview"), enter, follow=True)
    assert "The arm of this test run is no longer in the study." in refused.content.decode()
    assert "perhaps the study was amended" in preview_in(client, study, "working")
    # Who had agreed before keeps their version, and the arm with it.
    goes_on = {"do": "enter", "participant": agreed.public_id}
    assert client.post(page(study, "preview"), goes_on).headers["Location"] == "/journey/"
    assert client.get("/journey/", follow=True).status_code == 200


def test_a_preview_of_a_draft_that_can_t_run_says_what_is_wrong(lab: Lab) -> None:
    study = ready_study(lab)
    client = signed_in("Erin", lab)
    with lab_scope(lab.pk):
        Study.objects.update(embedding_provider="dashscope")
    assert "Put this right first" in preview_in(client, study, "working")
    with lab_scope(lab.pk):
        assert not Participant.objects.exists()


def test_nobody_becomes_a_real_participant_by_a_form(lab: Lab) -> None:
    study = ready_study(lab)
    real, test = enrol(study, arm="hybrid"), enrol(study, arm="hybrid", test_mode=True)
    client = signed_in("Alice", lab)
    for person in (real, test):
        form = {"do": "enter", "participant": person.public_id}
        assert client.post(page(study, "preview"), form).status_code == 404
    assert "memlab_participant" not in client.cookies


def test_the_flow_shows_arms_to_the_unblinded_only(lab: Lab) -> None:
    study = ready_study(lab)
    enrol(study, arm="hybrid")
    enrol(study, arm="working")
    blinded: Client = signed_in("Alice", lab)
    assert blinded.get(page(study, "flow")).context["columns"] == ["All"]
    session = blinded.session
    session[UNBLINDED] = {"lab": lab.pk, "studies": [study.pk], "participants": []}
    session.save()
    shown = blinded.get(page(study, "flow"))
    assert shown.context["columns"] == ["All", "B", "A"]
    (allocated,) = (row for row in shown.context["rows"] if row["line"].key == "allocated")
    assert allocated["counts"] == [2, 1, 1]
    bob = signed_in("Bob", lab)
    session = bob.session
    session[UNBLINDED] = {"lab": lab.pk, "studies": [study.pk], "participants": []}
    session.save()
    assert bob.get(page(study, "flow")).context["columns"] == ["All"]


def test_a_study_goes_its_way_step_by_step(lab: Lab) -> None:
    study = ready_study(lab)
    client = signed_in("Erin", lab)
    assert client.get(page(study, "close")).status_code == 404  # it isn't open
    for slug, expected in (
        ("pilot", "piloting"),
        ("back-to-draft", "draft"),
        ("pilot", "piloting"),
    ):
        assert client.get(page(study, slug)).status_code == 200
        assert client.post(page(study, slug)).status_code == 302
        assert status(study) == expected
    opened(lab, study)
    assert client.get(page(study, "pilot")).status_code == 404
    for slug, expected in (("close", "closed"), ("archive", "archived")):
        assert client.post(page(study, slug)).status_code == 302
        assert status(study) == expected
    for slug in ("launch", "preview", "close", "archive"):
        assert client.get(page(study, slug)).status_code == 404
    assert audited(lab) == [
        "start_pilot",
        "back_to_draft",
        "start_pilot",
        "open_study",
        "close_study",
        "archive_study",
    ]
