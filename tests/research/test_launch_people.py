"""Launch checks of who is sent and how they are balanced: recruiters of single stages, strata."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.enums import Moment, Outcome, RecruiterKind
from experiments.models import CompletionCode, Lab, Recruiter, Stage, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research.launch.checklist import checklist
from memlab.research.launch.finding import Finding, State
from questionnaires.models import Instrument
from tests.questionnaires.asked import PETS, ask
from tests.research.launchable import ready_study


def found(study: Study, key: str) -> Finding | None:
    with lab_scope(study.lab_id):
        listed = checklist(Study.objects.get(pk=study.pk), wall=wall_now()).findings
    return next((finding for finding in listed if finding.key == key), None)


def sent_to(study: Study, stage: str, **fields: Any) -> None:
    """A recruiter's study of one stage alone."""
    with lab_scope(study.lab_id):
        row = None if not stage else Stage.objects.get(study=study, key=stage)
        Recruiter.objects.create(study=study, stage=row, **fields)


def code_of(study: Study, stage: str, outcome: Outcome = Outcome.COMPLETE) -> None:
    with lab_scope(study.lab_id):
        row = None if not stage else Stage.objects.get(study=study, key=stage)
        CompletionCode.objects.create(
            study=study, stage=row, outcome=outcome, code=f"{stage}{outcome}"
        )


def told(study: Study, key: str) -> tuple[State, str] | None:
    finding = found(study, key)
    assert finding is None or finding.state is State.OK or (finding.remedy and finding.url)
    return None if finding is None else (finding.state, finding.found)


def test_a_recruiter_s_study_of_one_stage_needs_its_id_and_a_code_of_its_own(lab: Lab) -> None:
    study = ready_study(lab)
    assert told(study, "recruiter_stages") is None
    sent_to(study, "T1", expected_study="a1")
    sent_to(study, "T2")
    assert told(study, "recruiter_stages") == (
        State.BLOCKING,
        "The recruiter's id of the study is missing: Prolific · T2. There is no code for: T1, T2.",
    )
    with lab_scope(lab.pk):
        Recruiter.objects.filter(expected_study="").update(expected_study="a1")
    code_of(study, "T1")
    assert told(study, "recruiter_stages") == (
        State.BLOCKING,
        "The same id of the recruiter's study is given to: Prolific · T1, Prolific · T2. "
        "There is no code for: T2.",
    )
    with lab_scope(lab.pk):
        Recruiter.objects.filter(stage__key="T2").update(expected_study="b2")
    code_of(study, "T2", Outcome.TECHNICAL)
    assert told(study, "recruiter_stages") == (State.BLOCKING, "There is no code for: T2.")
    code_of(study, "T2")
    assert told(study, "recruiter_stages") == (
        State.OK,
        "Prolific · T1, Prolific · T2: each stage gives a code of its own.",
    )


def test_a_recruiter_that_names_no_study_is_asked_for_a_code_alone(lab: Lab) -> None:
    study = ready_study(lab)
    for stage in ("T1", "T2"):
        sent_to(study, stage, kind=RecruiterKind.SONA)
        code_of(study, stage)
    assert told(study, "recruiter_stages") == (
        State.OK,
        "SONA · T1, SONA · T2: each stage gives a code of its own.",
    )


def test_a_stage_that_the_series_leaves_out_is_named(lab: Lab) -> None:
    study = ready_study(lab)
    sent_to(study, "T1", expected_study="a1")
    code_of(study, "T1")
    left_out = (State.WARNING, "Prolific leads nobody to: T2.")
    assert told(study, "recruiter_stages") == left_out
    sent_to(study, "", kind=RecruiterKind.SONA)
    assert told(study, "recruiter_stages") == left_out  # of other people
    sent_to(study, "")
    finding = told(study, "recruiter_stages")
    assert finding is not None
    assert finding[0] is State.OK


def test_where_each_stage_has_its_code_the_whole_study_needs_none_for_complete(lab: Lab) -> None:
    study = ready_study(lab)
    sent_to(study, "T1", expected_study="a1")
    assert told(study, "completion_codes") == (
        State.WARNING,
        "Prolific · T1 sends people, but there is no code for: "
        "Screened out, Declined, Withdrawn, Technical problem.",
    )
    for outcome in Outcome:
        if outcome is not Outcome.COMPLETE:
            code_of(study, "", outcome)
    state = told(study, "completion_codes")
    assert state is not None
    assert state[0] is State.OK
    sent_to(study, "")
    state = told(study, "completion_codes")
    assert state is not None
    assert state[0] is State.BLOCKING


@pytest.mark.parametrize(
    ("source", "at", "state"),
    [
        ("screening:pet", "first_active_stage", State.OK),
        ("baseline:score:liking", "first_active_stage", State.OK),
        ("before:T1:pet", "first_active_stage", State.OK),
        ("after:T1:score:liking", "first_active_stage", State.OK),
        ("before:T2:pet", "first_active_stage", State.OK),
        ("after:T2:pet", "first_active_stage", State.BLOCKING),
        ("debriefing:pet", "first_active_stage", State.BLOCKING),
        ("screening:pet", "consent", State.BLOCKING),
    ],
)
def test_arms_are_balanced_by_what_is_asked_before_the_draw(
    lab: Lab, source: str, at: str, state: State
) -> None:
    """T2 is the first stage with manipulation; at consent nothing has been asked yet."""
    study = ready_study(lab, strata=[{"name": "kind", "source": source}], allocation_time=at)
    moment, stage = Moment(source.split(":")[0]), source.split(":")[1]
    ask(study, PETS, moment=moment, stage=stage if stage.startswith("T") else "")
    with lab_scope(lab.pk):
        Instrument.objects.get().publish()
    finding = told(study, "strata")
    late = "The source of kind is asked after the arm is drawn."
    assert finding == (state, "kind" if state is State.OK else late)
