"""Two labs that chat at once, and tasks with ids that aren't theirs: not one foreign byte."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chat import conversation, steps, tasks
from chat.conversation import SessionRef
from chat.makers import makers
from chat.models import Receipt, Reply
from experiments.models import Lab, Participant, Session
from memlab.core.clock import wall_now
from memlab.core.due import Due
from memlab.core.lease import ParticipantLease
from memlab.core.ledger import Job, JobKind
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import Episode, MemoryEvent, Trait
from tests.chat.sockets import Tab
from tests.studies import enrol, enter, make_study, reference_of

pytestmark = pytest.mark.usefixtures("kept_rows")

CANARIES = ("Aardvark", "Zebrafinch")


@pytest.fixture
def labs(own_lab: Lab) -> list[Lab]:
    return [own_lab, Lab.objects.found(name=f"Lab {uuid4().hex[:8]}")]


def people(lab: Lab, canary: str) -> Participant:
    study = make_study(
        lab, title=f"{canary} study", persona=f"You are {canary}.", stages={"minimum_gap_hours": 0},
        arms={"hybrid": ("hybrid", {"initial_g": 20.0, "recall_threshold": 0.05})},
    )  # fmt: skip
    return enrol(study, arm="hybrid")


async def visit(person: Participant, stage: str, texts: list[str]) -> tuple[Tab, Session]:
    session = await unit(enter, person, stage)
    async with Tab(person, session.id) as tab:
        for text in texts:
            await tab.say(text)
            await tab.until("reply", 60)
        await tab.send({"type": "end"})
        await tab.until("stage_over")
    return tab, session


async def test_two_labs_talk_at_once_and_no_byte_crosses(labs: list[Lab]) -> None:
    persons = [await unit(people, lab, word) for lab, word in zip(labs, CANARIES, strict=True)]
    sent: dict[int, str] = {0: "", 1: ""}
    for stage in ("T1", "T2"):
        visits = await asyncio.gather(
            *(
                visit(person, stage, [f"I keep a {word}.", f"My {word} sings.", "What do I keep?"])
                for person, word in zip(persons, CANARIES, strict=True)
            )
        )
        for number, (tab, _session) in enumerate(visits):
            sent[number] += "".join(tab.raw)
        for person in persons:
            await unit(tasks_run, person.lab_id, person.public_id)
    await makers().aclose()
    for number, (mine, theirs) in enumerate((CANARIES, CANARIES[::-1])):
        stored = await unit(everything, labs[number])
        assert mine in sent[number]
        assert mine in stored
        assert theirs not in sent[number]
        assert theirs not in stored


def tasks_run(lab_id: int, participant: UUID) -> int:
    return tasks.run_steps(lab_id, str(participant))


def everything(lab: Lab) -> str:
    with lab_scope(lab.pk):
        return repr(
            [
                list(model.objects.values())
                for model in (Receipt, Reply, Episode, Trait, MemoryEvent, Session)
            ]
        )


Name = Callable[["Busy"], Any]


class Busy:
    """A lab with something for every task to do."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.person = lab, people(lab, "Aardvark")
        done = enter(self.person)
        said(self.person, done)
        with lab_scope(lab.pk):
            Session.objects.filter(pk=done.pk).update(state="ended", ended_at=wall_now())
            Job.objects.enqueue(
                lab_id=lab.pk, kind=JobKind.CONSOLIDATE, participant=self.person.public_id,
                subject=done.id, study_at=wall_now(),
            )  # fmt: skip
        self.session = enter(self.person, "T2")
        self.reply = said(self.person, self.session)
        with lab_scope(lab.pk):
            early = wall_now() - timedelta(days=1)
            Session.objects.filter(pk=self.session.pk).update(last_activity_at=early)

    def state(self) -> str:
        mine = {"lab_id": self.lab.pk}
        tables = (Due, Job, ParticipantLease)
        rows = [list(model.objects.filter(**mine).values()) for model in tables]
        return repr(rows) + everything(self.lab)


def said(person: Participant, session: Session) -> UUID:
    reference = SessionRef.of(reference_of(person), session.id)
    return conversation.say(reference, client_id=uuid4(), text="Hello", wall=wall_now()).reply


TASKS: list[tuple[Callable[..., Any], Name, Any]] = [
    (tasks.run_steps, lambda busy: busy.person.public_id, 0),
    (tasks.take_over_reply, lambda busy: busy.reply, False),
    (tasks.close_session, lambda busy: busy.session.id, None),
]


@pytest.mark.parametrize(("task", "name", "nothing"), TASKS)
def test_a_task_does_nothing_with_what_is_not_its_lab_s(
    task: Callable[..., Any], name: Name, nothing: Any, labs: list[Lab]
) -> None:
    busy = Busy(labs[1])
    before = busy.state()
    for lab_id in (labs[0].pk, 2**40):
        assert task(lab_id, str(name(busy))) == nothing
    assert task(labs[1].pk, str(uuid4())) == nothing
    with pytest.raises(ValueError, match="UUID"):
        task(labs[1].pk, "no id at all")
    assert busy.state() == before


@pytest.mark.parametrize(("task", "name", "nothing"), TASKS)
def test_a_task_may_run_twice(
    task: Callable[..., Any],
    name: Name,
    nothing: Any,
    labs: list[Lab],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "PATIENCE", 0.5)  # nobody runs the step that the reply waits for
    busy = Busy(labs[1])
    before = busy.state()
    task(labs[1].pk, str(name(busy)))
    after = busy.state()
    assert after != before
    assert task(labs[1].pk, str(name(busy))) == nothing
    assert busy.state() == after
