"""Labs, studies and participants for tests, made through the models as staff would."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from chat import sessions
from experiments.access import ParticipantRef
from experiments.enums import Clock
from experiments.models import Allocation, Arm, Lab, Participant, Session, Stage, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope

ARMS = ("sensory", "working", "gist", "hybrid")
DAY = timedelta(days=1)


def make_study(lab: Lab, **fields: Any) -> Study:
    """A study of two stages, T1 without and T2 with manipulation, a day apart, and four arms.

    ``arms`` maps an arm's key to its architecture or to (architecture, parameters); ``stages``
    overrides fields of every stage. Pacing and the age gate are off unless they are asked for.
    """
    arms = fields.pop("arms", {key: key for key in ARMS})
    of_stages = fields.pop("stages", {})
    defaults = {
        "title": "A study of remembering",
        "assistant_name": "Lin",
        "persona": "You are a warm companion.",
        "information": "What this is about.",
        "consent": "I take part.",
        "minimum_age": 0,
        "pacing": False,
    }
    with lab_scope(lab.pk):
        study = Study.objects.create(**{**defaults, **fields})
        for number, (key, architecture) in enumerate(arms.items()):
            kind, parameters = (
                architecture if isinstance(architecture, tuple) else (architecture, {})
            )
            Arm.objects.create(
                study=study,
                key=key,
                name=key,
                label=chr(65 + number),
                architecture=kind,
                parameters=parameters,
            )
        for number, active in ((1, False), (2, True)):
            Stage.objects.create(
                **{
                    "study": study,
                    "number": number,
                    "key": f"T{number}",
                    "title": f"Talk {number}",
                    "opening_line": "Hello, how was your day?" if number == 1 else "",
                    "instructions": "Get to know each other.",
                    "minimum_gap_hours": 0 if number == 1 else 24,
                    "maximum_minutes": None,
                    "manipulation": active,
                    **of_stages,
                }
            )
    return study


def enrol(
    study: Study, *, arm: str | None = None, wall: datetime | None = None, **fields: Any
) -> Participant:
    """A participant who has consented and seen their code; ``arm`` puts them into one without a
    draw."""
    wall = wall or wall_now()
    with lab_scope(study.lab_id):
        participant = Participant.objects.create(study=study, **fields)
        participant.give_consent(wall=wall)
        participant.saw_code(wall=wall)
        if arm is not None:
            Allocation.objects.create(
                participant=participant,
                version=participant.version,
                arm_key=arm,
                stratum="test",
                position=participant.pk,
                block=0,
                block_size=1,
                study_at=participant.study_time(wall),
            )
        return participant


def enter(participant: Participant, stage: str = "T1", wall: datetime | None = None) -> Session:
    """The participant's session of a stage."""
    with lab_scope(participant.lab_id):
        return sessions.enter_stage(participant, stage, wall=wall or wall_now()).session


def reference_of(participant: Participant) -> ParticipantRef:
    return ParticipantRef(participant.lab_id, participant.public_id)


def scripted(study: Study, *, start: datetime, arm: str | None = None) -> Participant:
    """A participant whose clock a script moves, starting at ``start``."""
    return enrol(study, arm=arm, wall=start, clock=Clock.SCRIPTED, scripted_now=start)
