"""Screening and baseline within the entry; strata from what was answered."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from experiments.enums import Exclusion, Moment, ParticipantState
from experiments.models import Lab, Participant, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.journey import entry
from questionnaires import responses
from questionnaires.content import InstrumentContent, Text
from questionnaires.enums import ItemType
from tests.entering import enter, link_of
from tests.questionnaires.asked import AGREE, ask, item, options
from tests.studies import make_study

pytestmark = pytest.mark.django_db

SCREENING = InstrumentContent(
    key="who",
    title=Text(en="Who you are", zh="关于您"),
    items=(
        item("age_group", ItemType.SINGLE, options=options("18-29", "30-59", "60+")),
        item("uses", ItemType.MULTIPLE, options=options("none", "some"), required=False),
    ),
)
BASELINE = InstrumentContent(
    key="trust",
    title=Text(en="Trust", zh="信任"),
    items=(item("trust_1", ItemType.LIKERT, subscale="trust", **AGREE),),
)
TOO_OLD = [{"source": "screening:age_group", "operator": "in", "value": [3]}]
STRATA = [
    {"name": "age", "source": "screening:age_group", "levels": {"young": [1], "middle": [2]}},
    {"name": "trust", "source": "baseline:score:trust", "cuts": [3.5, 5]},
    {"name": "later", "source": "after:t1:closeness"},
]


def entered(lab: Lab, **fields: Any) -> Participant:
    """Somebody who stands before the screening questionnaire."""
    study = make_study(lab, **fields)
    ask(study, SCREENING, moment=Moment.SCREENING, stage="")
    ask(study, BASELINE, moment=Moment.BASELINE, stage="")
    last = enter(Client(), link_of(study))[-1]
    assert last.startswith("/questionnaire/")
    with lab_scope(lab.pk):
        return Participant.objects.select_related("study", "version").get(study=study)


def answer(participant: Participant, moment: Moment, **answers: Any) -> None:
    with lab_scope(participant.lab_id):
        wall = wall_now()
        response = responses.next_open(participant, moment, wall=wall)
        assert response is not None
        responses.save_page(
            participant,
            response.pk,
            page=1,
            revision=response.revision,
            seconds=3.0,
            answers=answers,
            wall=wall,
        )


def onward(participant: Participant) -> str | None:
    with lab_scope(participant.lab_id):
        participant.refresh_from_db()
        return entry.next_page(participant)


def test_screening_comes_before_baseline_and_then_the_study(lab: Lab) -> None:
    participant = entered(lab, screen_out=TOO_OLD)
    assert onward(participant) == onward(participant)
    answer(participant, Moment.SCREENING, age_group=1)
    with lab_scope(lab.pk):
        baseline = responses.next_open(participant, Moment.BASELINE, wall=wall_now())
    assert baseline is not None
    assert str(baseline.pk) in str(onward(participant))
    answer(participant, Moment.BASELINE, trust_1=4)
    assert onward(participant) is None
    assert participant.state == ParticipantState.ACTIVE


def test_an_answer_screens_out_and_nothing_more_is_asked(lab: Lab) -> None:
    participant = entered(lab, screen_out=TOO_OLD)
    answer(participant, Moment.SCREENING, age_group=3)
    assert onward(participant) == "/journey/end/"
    assert participant.state == ParticipantState.SCREENED_OUT
    assert participant.exclusion == Exclusion.SCREENING
    assert onward(participant) is None


def test_a_stratum_is_what_was_answered_by_then(lab: Lab) -> None:
    participant = entered(lab, strata=STRATA)
    with lab_scope(lab.pk):
        assert participant.stratum == "age=unknown/trust=unknown/later=unknown"
    answer(participant, Moment.SCREENING, age_group=2)
    answer(participant, Moment.BASELINE, trust_1=4)
    with lab_scope(lab.pk):
        assert participant.stratum == "age=middle/trust=3.5-5/later=unknown"
        allocation = participant.allocate(study_at=wall_now())
    assert allocation.stratum == "age=middle/trust=3.5-5/later=unknown"


def test_minimisation_keeps_what_it_was_drawn_from(lab: Lab) -> None:
    study = make_study(
        lab,
        strata=STRATA[:1],
        allocation_method="minimisation",
        minimisation_probability=1.0,
        arms={"one": "gist", "two": "gist"},
    )
    ask(study, SCREENING, moment=Moment.SCREENING, stage="")
    drawn = [allocated(study, group) for group in (1, 1, 2, 2)]
    assert [each.stratum for each in drawn] == ["age=young"] * 2 + ["age=middle"] * 2
    assert drawn[0].arm_key != drawn[1].arm_key
    assert drawn[2].arm_key != drawn[3].arm_key
    first, second = drawn[0].arm_key, drawn[1].arm_key
    assert drawn[1].drawn_from == {
        "weights": {"one": 1, "two": 1},
        "levels": {"age": "young"},
        "imbalance": {first: 2.0, second: 0.0},
        "preferred": [second],
        "probability": 1.0,
    }


def allocated(study: Study, group: int) -> Any:
    enter(Client(), link_of(study))
    with lab_scope(study.lab_id):
        participant = Participant.objects.filter(study=study).order_by("pk").last()
    assert participant is not None
    answer(participant, Moment.SCREENING, age_group=group)
    with lab_scope(study.lab_id):
        return participant.allocate(study_at=wall_now())
