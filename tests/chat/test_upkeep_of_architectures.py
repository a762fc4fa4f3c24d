"""Every memory that time changes, led through the same weeks with punctual maintenance, without
any, and with all of it done twice: the rows it leaves are the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from chat import steps
from experiments import architectures
from experiments.models import Lab, Participant
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobState
from memlab.core.llm import open_model
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.architectures.base import Architecture
from tests.conversations import START, ScriptedDoors, Talk
from tests.doors import ScriptedEmbedder, ScriptedModel
from tests.studies import DAY, make_study

pytestmark = pytest.mark.usefixtures("kept_rows")
MINUTE = timedelta(minutes=1)
FORTNIGHT = 14 * DAY


def kind_of_key(key: str) -> type[Architecture]:
    kind = architectures.architecture(key)
    assert isinstance(kind, type)
    assert issubclass(kind, Architecture)
    return kind


MAINTAINED = [
    key
    for key in settings.MEMORY_ARCHITECTURES
    if (kind := kind_of_key(key)).maintains or kind.begins
]
#: What would otherwise happen only after these weeks.
SHORTER = {"confidence": {"log_days": 7, "recent_log_days": 7}}
#: Said in the first conversation, before there is an arm, and in the second.
FIRST = (
    "My name is Ada and I work as a nurse in Leeds.",
    "I am afraid of losing my job, it makes me so sad and angry!",
    "I love hiking in the mountains, and my dog Rufus comes along.",
)
SECOND = (
    "I am so happy today, Rufus won a prize!",
    "You are stupid and I hate this.",
    "I love hiking in the mountains, and my dog Rufus comes along.",
)

Passing = Callable[[Talk, datetime], Awaitable[None]]


async def _missed(talk: Talk, until: datetime) -> None:
    """No tick comes."""


async def _punctual(talk: Talk, until: datetime) -> None:
    """The tick comes at every moment that is due."""
    while (moment := await unit(next_moment, talk)) is not None and moment < until:
        await unit(talk._move, moment)
        await run(talk)
        following = await unit(next_moment, talk)
        assert following is None or following > moment


def next_moment(talk: Talk) -> datetime | None:
    rows = Due.objects.filter(kind=DueKind.MAINTAIN, subject=talk.participant.public_id)
    return rows.values_list("study_at", flat=True).first()


async def _doubled(talk: Talk, until: datetime) -> None:
    """Two workers do everything at once, and whatever was done is done again."""
    await _punctual(talk, until)
    jobs = Job.objects.filter(participant=talk.participant.public_id, state=JobState.DONE)
    for job in await unit(lambda: list(jobs)):
        await unit(job.restart)
    await asyncio.gather(run(talk), run(talk))


async def run(talk: Talk) -> None:
    await steps.run_steps(talk.study.lab_id, talk.participant.public_id, talk.doors)


def doors() -> ScriptedDoors:
    return ScriptedDoors(
        talking=ScriptedModel(),
        extraction=open_model("offline", ""),  # type: ignore[arg-type]
        embedder=ScriptedEmbedder(),
    )


async def weeks(lab: Lab, key: str, passing: Passing) -> list[tuple[str, ...]]:
    """A conversation, a fortnight, another one with a long silence in it, and two fortnights."""
    stages = {"idle_minutes": 10 * 24 * 60}
    study = await unit(
        make_study, lab, arms={key: (key, SHORTER.get(key, {}))}, stages=stages, relevance="raw"
    )
    talk = Talk(study, doors(), arm=None if passing is _missed else key)
    await talk.begin()
    await talk.stage("T1", START)
    for number, text in enumerate(FIRST):
        await talk.say(text, START + number * MINUTE)
    await talk.end(START + 10 * MINUTE)
    again = START + FORTNIGHT
    await passing(talk, again)
    await talk.stage("T2", again)
    for number, text in enumerate(SECOND):
        at = again + number * 50 * MINUTE
        await passing(talk, at)
        await talk.say(text, at)
    await talk.end(again + 110 * MINUTE)
    await passing(talk, again + 2 * FORTNIGHT)
    await unit(talk._move, again + 2 * FORTNIGHT)
    await run(talk)
    assert not await unit(Job.objects.filter(lab_id=lab.pk).exclude(state=JobState.DONE).exists)
    return await unit(left, lab, talk.participant)


UUID_LIKE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
OF_ONE_RUN = {"id", "lab", "participant", "public_id", "wall_at", "revision"}


def left(lab: Lab, participant: Participant) -> list[tuple[str, ...]]:
    """Everything memory holds of a participant, but for what no two participants share."""
    with lab_scope(lab.pk):
        return sorted(
            (model.__name__, *_values(row))
            for model in apps.get_app_config("memory").get_models()
            for row in model._default_manager.filter(participant=participant)
        )


def _values(row: Model) -> list[str]:
    encoder = DjangoJSONEncoder(sort_keys=True, ensure_ascii=False, default=str)
    return [
        f"{field.name}={UUID_LIKE.sub('…', _as_text(getattr(row, field.attname), encoder))}"
        for field in row._meta.concrete_fields
        if field.name not in OF_ONE_RUN
    ]


def _as_text(value: Any, encoder: DjangoJSONEncoder) -> str:
    return str(value) if hasattr(value, "tolist") else encoder.encode(value)


@pytest.mark.parametrize("key", MAINTAINED)
async def test_weeks_leave_the_same_rows_however_its_maintenance_was_run(
    own_lab: Lab, key: str
) -> None:
    labs = [own_lab, *[await unit(Lab.objects.found, name=f"{own_lab.name} {n}") for n in "23"]]
    punctual, missed, doubled = [
        await weeks(lab, key, passing)
        for lab, passing in zip(labs, (_punctual, _missed, _doubled), strict=True)
    ]
    causes = {cause for row in punctual for cause in row if cause.startswith("cause=")}
    assert causes & {'cause="passive"', 'cause="sleep"', 'cause="session_start"'}
    assert missed == punctual
    assert doubled == punctual
