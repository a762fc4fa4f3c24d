"""What staff see of a memory's work, and how they start it by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from experiments.enums import Clock
from experiments.models import AuditEntry, Lab, Participant, Study
from experiments.rights import UNBLINDED
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobKind, JobState
from memlab.core.tenancy import lab_scope
from tests.people import signed_in
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db


def unblinded(name: str, study: Study) -> Client:
    """A browser of ``name`` that is unblinded to a study."""
    with lab_scope(study.lab_id):
        lab = Lab.objects.get(pk=study.lab_id)
    client = signed_in(name, lab)
    session = client.session
    session[UNBLINDED] = {"lab": lab.pk, "studies": [study.pk], "participants": []}
    session.save()
    return client


def step(person: Participant, **fields: object) -> Job:
    job = Job.objects.enqueue(
        lab_id=person.lab_id,
        kind=JobKind.MAINTAIN,
        participant=person.public_id,
        subject=person.public_id,
        study_at=wall_now(),
    )
    Job.objects.filter(pk=job.pk).update(**fields)
    return job


def due(person: Participant, *, resting: bool = False) -> None:
    now = wall_now()
    Due.objects.plan(
        lab_id=person.lab_id,
        kind=DueKind.MAINTAIN,
        subject=person.public_id,
        study_at=now,
        wall_at=None if resting else now - timedelta(minutes=30),
    )


def address(person: Participant, page: str = "memory-work") -> str:
    return f"/admin/experiments/participant/{person.pk}/{page}/"


def test_a_page_says_what_is_next_what_came_of_the_last_and_what_was_given_up(lab: Lab) -> None:
    study = make_study(lab)
    person, other = enrol(study, arm="hybrid"), enrol(study, arm="gist")
    client = unblinded("Alice", study)
    assert "has had nothing to do yet" in client.get(address(person)).content.decode()
    done = {"state": JobState.DONE, "result": {"episode": 3, "sighs": 1}}
    step(person, **done, finished_at=wall_now(), attempts=1)
    failed = step(other, state=JobState.FAILED, failure="summary:timeout", attempts=6)
    due(person)
    due(other, resting=True)
    page = client.get(address(person)).content.decode()
    assert "Episode: 3, sighs: 1" in page
    assert "rests" not in page
    page = client.get(address(other)).content.decode()
    assert "summary:timeout" in page
    assert "rests: it was given up" in page
    assert f"/admin/core/job/{failed.pk}/change/" in page
    overview = client.get(f"/admin/experiments/study/{study.pk}/memory-work/").content.decode()
    assert "Pending steps: 0. Given up: 1." in overview
    assert "Episode: 3, sighs: 1" in overview
    assert address(person) in overview
    home = client.get("/admin/").content.decode()
    assert "Memories whose maintenance is overdue" in home


def test_an_overview_costs_as_many_queries_for_three_as_for_one(lab: Lab) -> None:
    study = make_study(lab)
    client = unblinded("Alice", study)

    def queries() -> int:
        person = enrol(study, arm="hybrid")
        step(person, state=JobState.DONE, finished_at=wall_now())
        due(person)
        with CaptureQueriesContext(connection) as captured:
            page = client.get(f"/admin/experiments/study/{study.pk}/memory-work/")
        assert person.code in page.content.decode()
        return len(captured)

    first = queries()
    queries()
    assert queries() == first


def test_by_hand_plans_one_step_and_the_log_says_who(lab: Lab) -> None:
    study = make_study(lab)
    person = enrol(study, arm="hybrid")
    client = unblinded("Alice", study)
    assert address(person, "consolidate") in client.get(address(person)).content.decode()
    assert client.get(address(person, "consolidate")).status_code == 200
    assert not Job.objects.exists()
    for _twice in range(2):
        response = client.post(address(person, "consolidate"))
        assert response.headers["Location"] == address(person)
    job = Job.objects.get()
    assert (job.kind, job.participant, job.state) == ("by_hand", person.public_id, "pending")
    assert Due.objects.filter(kind=DueKind.STEPS, subject=person.public_id).exists()
    with lab_scope(lab.pk):
        entry = AuditEntry.objects.filter(action="consolidate_by_hand").first()
    assert entry is not None
    assert (entry.target_id, entry.details["step"]) == (str(person.pk), job.pk)


def test_who_may_neither_see_nor_start_it_finds_nothing(lab: Lab, other_lab: Lab) -> None:
    study = make_study(lab)
    person, unallocated = enrol(study, arm="hybrid"), enrol(study)
    with lab_scope(lab.pk):
        now = wall_now()
        replayed = enrol(study, arm="gist", clock=Clock.SCRIPTED, scripted_now=now)
    pages = [address(person), address(person, "consolidate")]
    overview = f"/admin/experiments/study/{study.pk}/memory-work/"
    for name in ("Bob", "Dora", "Erin"):
        client = unblinded(name, study)
        for page in (*pages, overview):
            assert client.get(page).status_code == client.post(page).status_code == 404
    foreign = signed_in("Charlie", other_lab)
    for page in (*pages, overview):
        assert foreign.get(page).status_code == foreign.post(page).status_code == 404
    blinded = signed_in("Alice", lab)
    assert blinded.get(address(person)).status_code == blinded.get(overview).status_code == 404
    for nobody in (unallocated, replayed):
        assert blinded.post(address(nobody, "consolidate")).status_code == 404
    assert blinded.post(address(person, "consolidate")).headers["Location"] == address(
        person, "change"
    )
    assert Job.objects.count() == 1
