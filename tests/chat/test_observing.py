"""Learning from a turn after its reply, and making up for it when it fails."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from chat import steps
from experiments.models import Lab, Session
from memlab.core.ledger import Job
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memlab.core.work import unit
from memory.models import ConsolidationRun, Trait
from tests.conversations import START, Talk, scripted_doors
from tests.doors import Answer
from tests.notebook import NOTEBOOK
from tests.studies import make_study

pytestmark = pytest.mark.usefixtures("kept_rows")

AWAY = ModelFailure(FailureKind.TIMEOUT, "scripted")
DAY = timedelta(days=1)


@pytest.fixture
async def talk(own_lab: Lab, settings) -> Talk:
    """A participant of the first stage, which is without manipulation."""
    settings.MEMORY_ARCHITECTURES = {**settings.MEMORY_ARCHITECTURES, **NOTEBOOK}
    study = await unit(make_study, own_lab, arms={"notebook": "notebook"})
    talk = Talk(study, scripted_doors(), arm="notebook")
    await talk.begin()
    await talk.stage("T1", START)
    return talk


async def run(talk: Talk, answer: Answer) -> int:
    talk.doors.extraction.answers[PromptTask.CALL_TOOLS] = answer
    return await steps.run_steps(talk.study.lab_id, talk.participant.public_id, talk.doors)


async def restart(job: Job) -> None:
    await unit(lambda: Job.objects.get(pk=job.pk).restart())


async def stands(talk: Talk, subject: UUID) -> tuple[Job, list[str], list[str], int]:
    """The step, the session's marks, the lines written and the runs of the participant."""

    def read() -> tuple[Job, list[str], list[str], int]:
        with lab_scope(talk.study.lab_id):
            return (
                Job.objects.get(subject=subject),
                Session.objects.get(pk=talk.session.pk).degraded,
                list(Trait.objects.values_list("text", flat=True)),
                ConsolidationRun.objects.count(),
            )

    return await unit(read)


async def test_a_turn_that_wasn_t_learned_from_is_marked_and_made_up_for_once(talk: Talk) -> None:
    await talk.end(START + timedelta(minutes=20))
    await talk.stage("T2", START + 2 * DAY)
    reply = await talk.say("I keep a parrot.")
    assert await run(talk, AWAY) == 0
    job, marks, lines, _runs = await stands(talk, reply)
    assert (job.kind, job.state, job.attempts) == ("observe", "pending", 1)
    assert (marks, lines) == (["turn 2: extraction:timeout"], [])

    await restart(job)
    assert await run(talk, '["keeps a parrot"]') == 1
    once = await stands(talk, reply)
    assert (once[0].state, once[0].result, once[1:]) == (
        "done",
        {"trait": 1},
        ([], ["keeps a parrot"], 1),
    )

    await restart(job)
    await run(talk, '["keeps a snake"]')
    assert (await stands(talk, reply))[1:] == once[1:]


async def test_the_marks_of_a_turn_and_of_its_session_stand_side_by_side(talk: Talk) -> None:
    await talk.end(START + timedelta(minutes=20))
    await talk.stage("T2", START + 2 * DAY)
    reply = await talk.say("I keep a parrot.")
    await run(talk, AWAY)
    await unit(lambda: Job.objects.filter(subject=reply).update(attempts=6, not_before=None))
    await talk.end(START + 2 * DAY + timedelta(minutes=20))
    job, marks, _lines, _runs = await stands(talk, reply)
    assert (job.state, marks) == ("failed", ["turn 2: died"])
    assert (await stands(talk, talk.session.pk))[0].state == "done"


async def test_a_session_lived_through_later_stops_where_it_fails_and_goes_on_from_there(
    talk: Talk,
) -> None:
    for text in ("I keep a parrot.", "Her name is Rio."):
        await talk.say(text)
    talk.doors.extraction.answers[PromptTask.CALL_TOOLS] = ['["keeps a parrot"]', AWAY]
    await talk.end(START + timedelta(minutes=20))
    job, marks, lines, runs = await stands(talk, talk.session.pk)
    assert (job.kind, job.state, marks) == ("consolidate", "pending", ["extraction:timeout"])
    assert (lines, runs) == (["keeps a parrot"], 1)

    await restart(job)
    asked = len(talk.doors.extraction.asked(PromptTask.CALL_TOOLS))
    assert await run(talk, '["called Rio"]') == 1
    assert len(talk.doors.extraction.asked(PromptTask.CALL_TOOLS)) == asked + 2
    job, marks, lines, runs = await stands(talk, talk.session.pk)
    assert (job.state, marks, runs) == ("done", [], 2)
    assert sorted(lines) == ["called Rio", "keeps a parrot"]
