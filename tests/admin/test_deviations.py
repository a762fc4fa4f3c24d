"""The log of deviations: who wrote into it, who sees what of it, and that nobody changes it."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction

from experiments.enums import DeviationKind
from experiments.models import Deviation, Lab, Participant, Study
from experiments.rights import UNBLINDED
from memlab.core.clock import wall_now
from memlab.core.ledger import Job, JobKind, JobState
from memlab.core.tenancy import lab_scope
from tests.people import person, signed_in
from tests.studies import enrol, enter, make_study

LIST = "/admin/experiments/deviation/"


@pytest.fixture
def study(lab: Lab) -> Study:
    return make_study(lab)


def recorded(study: Study, kind: DeviationKind, participant: Participant | None) -> Deviation:
    with lab_scope(study.lab_id):
        return Deviation.objects.record(kind, study=study, participant=participant, number=7)


def test_a_row_says_who_what_and_at_which_study_time(study: Study) -> None:
    participant = enrol(study, arm="hybrid")
    session = enter(participant)
    alice = person("Alice")
    with lab_scope(study.lab_id):
        row = Deviation.objects.record(
            DeviationKind.WINDOW_EXTENDED,
            study=study,
            participant=participant,
            session=session,
            user_id=alice.pk,
            hours=24,
        )
        row.refresh_from_db()
        assert (row.kind, row.details, row.user_id) == ("window_extended", {"hours": 24}, alice.pk)
        assert (row.study_id, row.participant_id, row.session_id) == (
            study.pk,
            participant.pk,
            session.pk,
        )
        assert row.study_at == row.at + participant.clock_offset
        assert str(row) == "A window was extended"


def test_nobody_changes_or_deletes_a_row(study: Study) -> None:
    row = recorded(study, DeviationKind.OTHER, None)
    with lab_scope(study.lab_id):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Deviation.objects.filter(pk=row.pk).update(details={})
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Deviation.objects.filter(pk=row.pk).delete()


def test_blinded_staff_do_not_see_what_depends_on_the_arm(study: Study, lab: Lab) -> None:
    participant = enrol(study, arm="hybrid")
    shown = recorded(study, DeviationKind.WINDOW_EXTENDED, participant)
    hidden = recorded(study, DeviationKind.MEMORY_EDITED, participant)
    of_study = recorded(study, DeviationKind.ALLOCATED_BY_HAND, None)
    for name in ("Alice", "Bob", "Dora", "Erin"):
        client = signed_in(name, lab)
        assert [row.pk for row in client.get(LIST).context["cl"].result_list] == [shown.pk]
        assert client.get(f"{LIST}{hidden.pk}/change/").status_code == 404
        assert client.get(f"{LIST}{shown.pk}/change/").status_code == 200
    client = signed_in("Alice", lab)
    session = client.session
    session[UNBLINDED] = {"lab": lab.pk, "studies": [study.pk], "participants": []}
    session.save()
    assert [row.pk for row in client.get(LIST).context["cl"].result_list] == [
        of_study.pk,
        hidden.pk,
        shown.pk,
    ]
    assert client.get(f"{LIST}?q={participant.code}").context["cl"].result_count == 2
    assert client.get(f"{LIST}?kind__exact=memory_edited").context["cl"].result_count == 1


def test_steps_by_hand_are_deviations(study: Study, lab: Lab) -> None:
    participant = enrol(study, arm="hybrid")
    job = Job.objects.enqueue(
        lab_id=lab.pk,
        kind=JobKind.MAINTAIN,
        participant=participant.public_id,
        subject=participant.public_id,
        study_at=wall_now(),
    )
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, attempts=6)
    client = signed_in("Alice", lab)
    assert client.post(f"/admin/core/job/{job.pk}/again/").status_code == 302
    consolidate = f"/admin/experiments/participant/{participant.pk}/consolidate/"
    assert client.post(consolidate).status_code == 302
    with lab_scope(lab.pk):
        rows = list(Deviation.objects.order_by("pk"))
        by_hand = Job.objects.filter(lab_id=lab.pk).order_by("-pk")[0]
    assert [(row.kind, row.participant_id, row.details) for row in rows] == [
        ("step_restarted", participant.pk, {"step": job.pk, "step_kind": "maintain"}),
        ("consolidated", participant.pk, {"step": by_hand.pk}),
    ]
    assert {row.user_id for row in rows} == {person("Alice").pk}
