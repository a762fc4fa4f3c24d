"""The study that the participation machine walks through, made once for all its examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.test import Client

from experiments.enums import Moment, Outcome
from experiments.models import Arm, CompletionCode, Lab, Recruiter, Stage, Study
from memlab.core.tenancy import lab_scope
from questionnaires.content import InstrumentContent, ItemContent, Text
from questionnaires.enums import ItemType
from tests.people import signed_in
from tests.questionnaires.asked import AGREE, ask, item, options
from tests.studies import make_study

#: Words by which an arm would be recognised, and that no page uses for anything else.
ARMS = {"ochre": "sensory", "teal": "hybrid"}
ARM_WORDS = ("ochre", "teal", "sensory", "hybrid")
GAP_HOURS, WINDOW_HOURS, FINISH_HOURS = 12, 24, 6
#: Which of the possible answers screens out.
TOO_OLD = 3
#: A valid answer to every item; the texts are replaced by what a participant writes.
ANSWERS: dict[str, Any] = {
    "age_group": 1, "trust_1": 4, "mood": 3, "like_1": 5, "why": "", "guess": ""
}  # fmt: skip
#: Every place at which something is asked: moment, stage, position.
PLACES = (
    ("screening", "", 1),
    ("baseline", "", 1),
    ("before", "T1", 1),
    ("after", "T1", 1),
    ("before", "T2", 1),
    ("after", "T2", 1),
    ("after", "T3", 1),
    ("debriefing", "", 1),
)
STAGES = ("T1", "T2", "T3")
#: Each outcome's code as participants may see it; a stage's own code has the stage's key.
CODES = {
    ("complete", ""): "CODEWHOLE",
    ("screened_out", ""): "CODESCREENED",
    ("declined", ""): "CODEDECLINED",
    ("withdrawn", ""): "CODEWITHDRAWN",
    ("complete", "T1"): "CODEFIRST",
}


def _instrument(key: str, *items: ItemContent) -> InstrumentContent:
    return InstrumentContent(key=key, title=Text(en=key, zh=key), items=items)


SCREENING = _instrument(
    "who", item("age_group", ItemType.SINGLE, options=options("18-29", "30-59", "60+"))
)
BASELINE = _instrument("trust", item("trust_1", ItemType.LIKERT, **AGREE))
BEFORE = _instrument("mood", item("mood", ItemType.LIKERT, **AGREE))
AFTER = _instrument(
    "talk",
    item("like_1", ItemType.LIKERT, **AGREE),
    item("why", ItemType.TEXT, page=2),
)
DEBRIEFING = _instrument("guess", item("guess", ItemType.TEXT))


@dataclass
class World:
    """What all examples share: the study, its door, its staff, and what was counted."""

    lab: Lab
    study: Study
    door: str
    staff: Client
    fired: Counter[str]
    met: Counter[str]


def make_world(lab: Lab, *, fired: Counter[str], met: Counter[str]) -> World:
    """An open study of three stages and two arms, with a recruiter at its door."""
    study = make_study(
        lab,
        arms=ARMS,
        stages={
            "window_hours": WINDOW_HOURS,
            "finish_hours": FINISH_HOURS,
            "minimum_gap_hours": GAP_HOURS,
            "maximum_minutes": 60,
            "payment": "2.50",
            "reminder_hours": [0, 6],
        },
        minimum_age=18,
        sensitive_consent="You may ask me about my feelings.",
        telemetry_consent="You may record how I type.",
        screen_out=[{"source": "screening:age_group", "operator": "==", "value": TOO_OLD}],
        currency="EUR",
        debriefing="It was about memory.",
        debriefing_consent="My data may be used.",
        safety_contact_email="ada@example.org",
        hotlines="Samaritans | 116 123 | day and night",
        risk_pauses=True,
    )
    with lab_scope(lab.pk):
        _make_third_stage(study)
        for arm in Arm.objects.filter(study=study):
            Arm.objects.filter(pk=arm.pk).update(label=f"{arm.key} of the label")
        for (outcome, key), code in CODES.items():
            stage = study.stages.get(key=key) if key else None
            CompletionCode.objects.create(
                study=study, stage=stage, outcome=Outcome(outcome), code=code
            )
        recruiter = Recruiter.objects.create(study=study)
    ask(study, SCREENING, moment=Moment.SCREENING, stage="")
    ask(study, BASELINE, moment=Moment.BASELINE, stage="")
    ask(study, DEBRIEFING, moment=Moment.DEBRIEFING, stage="")
    for moment, key, _position in PLACES:
        if key:
            ask(study, BEFORE if moment == "before" else AFTER, moment=Moment(moment), stage=key)
    with lab_scope(lab.pk):
        study.open()
    return World(
        lab=lab,
        study=study,
        door=f"/join/{recruiter.token}/",
        staff=signed_in("Alice", lab),
        fired=fired,
        met=met,
    )


def _make_third_stage(study: Study) -> None:
    """As the second one, which comes first to mind when somebody doesn't come at all."""
    stage = Stage.objects.get(study=study, key="T2")
    stage.pk, stage.number, stage.key, stage.title = None, 3, "T3", "Talk 3"
    stage._state.adding = True
    stage.save()
