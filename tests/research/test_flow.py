"""The flow of participants, counted from rows and compared with literals."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.enums import Exclusion, ParticipantState, SessionState
from experiments.models import Lab, Participant, Session, Study
from memlab.core.tenancy import lab_scope
from memlab.research.flow import flow, people_of
from tests.studies import enrol, enter, make_study


def counted(study: Study, *, test_mode: bool = False) -> dict[str, int]:
    with lab_scope(study.lab_id):
        people = [each for each in people_of(study) if each.test_mode == test_mode]
        stages = study.configuration().stages
    return {line.key: line.count for line in flow(people, stages) if line.count}


def talked(participant: Participant, stage: str, state: SessionState, number: int = 1) -> None:
    with lab_scope(participant.lab_id):
        session = Session.objects.filter(participant=participant, stage_key=stage).first()
        if session is None:
            session = Session.objects.create(
                participant=participant,
                version=participant.version,
                stage_key=stage,
                number=number,
                manipulation=stage == "T2",
                started_at=participant.consented_at,
                last_activity_at=participant.consented_at,
            )
        Session.objects.filter(pk=session.pk).update(state=state)


def state_of(participant: Participant, state: ParticipantState, exclusion: str = "") -> None:
    with lab_scope(participant.lab_id):
        Participant.objects.filter(pk=participant.pk).update(state=state, exclusion=exclusion)


def test_everybody_is_somewhere_and_test_runs_are_apart(lab: Lab) -> None:
    study = make_study(lab)
    with lab_scope(lab.pk):
        Participant.objects.create(study=study)
        young = Participant.objects.create(study=study)
        declined = Participant.objects.create(study=study)
    state_of(young, ParticipantState.INELIGIBLE, Exclusion.AGE)
    state_of(declined, ParticipantState.DECLINED, Exclusion.PARTICIPATION)
    done, lapsed, absent, gone, busy = (
        enrol(study, arm=arm) for arm in ("hybrid", "gist", "gist", "hybrid", None)
    )
    for stage, number in (("T1", 1), ("T2", 2)):
        talked(done, stage, SessionState.COMPLETE, number)
    state_of(done, ParticipantState.COMPLETE)
    talked(lapsed, "T1", SessionState.ENDED)
    talked(lapsed, "T2", SessionState.EXPIRED, 2)
    talked(absent, "T2", SessionState.OPEN)
    talked(gone, "T1", SessionState.COMPLETE)
    state_of(gone, ParticipantState.WITHDRAWN)
    enter(busy)
    enrol(study, test_mode=True, arm="gist")
    assert counted(study) == {
        "entered": 8,
        "excluded": 2,
        "excluded_age": 1,
        "excluded_participation": 1,
        "entering": 1,
        "consented": 5,
        "allocated": 4,
        "T1": 4,
        "T1_done": 3,
        "T1_under_way": 1,
        "T1_missed": 1,
        "T2": 3,
        "T2_done": 1,
        "T2_under_way": 1,
        "T2_lapsed": 1,
        "withdrawn": 1,
        "complete": 1,
        "itt": 4,
        "per_protocol": 1,
    }
    assert counted(study, test_mode=True) == {
        "entered": 1,
        "consented": 1,
        "allocated": 1,
        "itt": 1,
    }


def test_it_takes_as_many_queries_for_one_as_for_many(lab: Lab) -> None:
    study = make_study(lab)

    def queries() -> int:
        with (
            lab_scope(lab.pk),
            CaptureQueriesContext(
                connection,
            ) as seen,
        ):
            people_of(study)
        return len(seen)

    enter(enrol(study))
    first = queries()
    for _each in range(3):
        enter(enrol(study))
    assert queries() == first == 5
