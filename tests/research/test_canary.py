"""A person's words are in no row, file, log or task after an erasure, whichever memory they met,
and no worker that still held one of theirs writes it down again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from chat import conversation, steps
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.models import AdverseEvent
from chat.safety.enums import Category, Severity, Source
from experiments.doors import DoorKeeper
from experiments.enums import AuditAction, IdentifierKind, Moment, WithdrawalKind, WithdrawnBy
from experiments.models import (
    AuditEntry,
    Identifier,
    Identity,
    Lab,
    Participant,
    Reminder,
    Session,
    StaffMessage,
    Study,
)
from memlab.core.clock import wall_now
from memlab.core.personal import rules
from memlab.core.tenancy import lab_scope
from memlab.core.values import Prompt, PromptTask
from memlab.core.work import unit
from memlab.journey.withdrawing import person_of, withdraw
from memlab.research import erasure
from questionnaires.models import Answer, Response
from tests.conversations import START, ScriptedDoors, Talk, silence
from tests.doors import ScriptedEmbedder, ScriptedModel, rated, traits_from
from tests.research.canary import packed_with, tables_with
from tests.studies import enrol, enter, make_study, reference_of

WORD = "Rioquetzal"
TOLD = f"My name is {WORD} and I keep a parrot called {WORD}. I love {WORD} very much!"
ARCHITECTURES = ("hybrid", "compression", "confidence", "homeostatic", "retention")
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def places(kept_rows: None, settings: Any, tmp_path: Path) -> Path:
    settings.ERASURE_LOG = tmp_path / "erasures"
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


async def erase(lab_id: int, participant_id: int) -> None:
    def ask() -> Any:
        with lab_scope(lab_id):
            person = Participant.objects.get(pk=participant_id)
            return withdraw(
                person,
                WithdrawalKind.ERASE,
                by=WithdrawnBy.PARTICIPANT,
                wall=wall_now(),
                reason=WORD,
            ).withdrawal.pk

    withdrawal = await unit(ask)
    assert await unit(erasure.carry_out, lab_id, withdrawal, wall=wall_now())


async def live(study: Study, architecture: str, keeper: DoorKeeper) -> Participant:
    """Somebody who talks on two days and is remembered in between."""
    person = await unit(enrol, study, arm=architecture, test_mode=True)
    session = await unit(enter, person)
    await say(person, session, TOLD, keeper)
    reference = SessionRef.of(reference_of(person), session.id)
    assert await unit(conversation.finish, reference, wall=wall_now())
    await steps.run_steps(person.lab_id, person.public_id, keeper)
    later = await unit(next_day, person)
    await say(person, later, f"Do you remember {WORD}?", keeper)
    return person


async def say(person: Participant, session: Session, text: str, keeper: DoorKeeper) -> None:
    reference = SessionRef.of(reference_of(person), session.id)
    said = await unit(conversation.say, reference, client_id=uuid4(), text=text, wall=wall_now())
    await steps.run_steps(person.lab_id, person.public_id, keeper)  # what the reply waits for
    assert await make_reply(person.lab_id, said.reply, keeper, silence)
    await steps.run_steps(person.lab_id, person.public_id, keeper)


def next_day(person: Participant) -> Session:
    with lab_scope(person.lab_id):
        later = Participant.objects.get(pk=person.pk)
        later.skip(DAY)
    return enter(later, "T2")


def leave_traces(person: Participant) -> None:
    """Everything beside conversations in which somebody may leave a word."""
    now = wall_now()
    with lab_scope(person.lab_id):
        Participant.objects.filter(pk=person.pk).update(time_zone=WORD)
        Identifier.objects.keep(
            person, Identity(IdentifierKind.EMAIL, f"{WORD}{person.pk}@example.org")
        )
        StaffMessage.objects.post(person, f"It is {WORD}.", client_id=uuid4())
        AuditEntry.objects.record(AuditAction.UNBLIND, target=person, reason=WORD)
        AdverseEvent.objects.create(
            participant=person,
            source=Source.STAFF,
            category=Category.values[0],
            severity=Severity.values[0],
            note=WORD,
            occurred_at=now,
            recorded_at=now,
        )
        Reminder.objects.create(
            participant=person, stage_key="T2", number=1, channel="email", failure=WORD, due_at=now
        )
        response = Response.objects.create(
            id=uuid4(),
            participant=person,
            moment=Moment.BASELINE,
            position=1,
            seed=WORD,
            started_at=now,
        )
        Answer.objects.create(response=response, item="name", raw=WORD, page=1, answered_at=now)


def rows_of(person: Participant) -> dict[str, int]:
    with lab_scope(person.lab_id):
        found = {rule.model: rule.of(person_of(person)).count() for rule in rules()}
    return {model: count for model, count in found.items() if count}


def files_with(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and WORD.lower() in path.read_text(errors="replace").lower()
    ]


async def test_a_word_is_nowhere_after_the_erasure(
    own_lab: Lab, places: Path, caplog: pytest.LogCaptureFixture
) -> None:
    study = await unit(
        make_study,
        own_lab,
        arms={key: key for key in ARCHITECTURES},
        stages={"manipulation": True, "opening_line": "", "minimum_turns": 0},
        talking_calls_tools=True,
    )
    keeper = DoorKeeper()
    try:
        people = [await live(study, key, keeper) for key in ARCHITECTURES]
    finally:
        await keeper.aclose()
    for person in people:
        await unit(leave_traces, person)
    before = await unit(tables_with, WORD)
    assert {
        "chat_message.text", "chat_receipt.prompt", "memory_memoryevent.after",
        "memory_episode.text", "memory_compressible.text", "memory_belief.content",
        "memory_loggedturn.said", "memory_retaineditem.text", "questionnaires_answer.raw",
        "experiments_staffmessage.text", "chat_adverseevent.note", "experiments_auditentry.details",
    } <= before  # fmt: skip
    for person in people:
        await erase(own_lab.pk, person.pk)
    assert await unit(tables_with, WORD) == set()
    for person in people[:1]:  # nor any id by which others might have known them
        assert await unit(tables_with, str(person.public_id)) == set()
        assert await unit(tables_with, person.code) == set()
        assert await unit(rows_of, person) == {}
    assert await unit(packed_with, WORD) == []
    assert files_with(places) == []
    assert WORD.lower() not in caplog.text.lower()


class Interrupted(ScriptedModel):
    """A model that is still at it when the person's data are erased."""

    def __init__(self, answers: Any = None) -> None:
        super().__init__(answers)
        self.person: Participant | None = None

    async def _interrupt(self) -> None:
        if self.person is not None:
            person, self.person = self.person, None
            await erase(person.lab_id, person.pk)

    async def complete(self, prompt: Prompt, *args: Any, **kwargs: Any) -> Any:
        await self._interrupt()
        return await super().complete(prompt, *args, **kwargs)

    async def stream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        await self._interrupt()
        async for each in super().stream(*args, **kwargs):
            yield each


@pytest.fixture
async def talk(own_lab: Lab) -> Talk:
    study = await unit(
        make_study,
        own_lab,
        arms={"hybrid": "hybrid"},
        stages={"manipulation": True, "opening_line": "", "minimum_turns": 0},
    )
    traits = {WORD: {"dimension": "social", "text": WORD}}
    extraction = Interrupted(
        {
            PromptTask.EXTRACT_PROFILE: traits_from(traits),
            PromptTask.RATE_SALIENCE: rated(0.5, 0.5, 0.5),
        }
    )
    doors = ScriptedDoors(talking=Interrupted(), extraction=extraction, embedder=ScriptedEmbedder())
    made = Talk(study, doors, arm="hybrid")
    await made.begin()
    await made.stage("T1", START)
    return made


def interrupted(model: ScriptedModel, person: Participant) -> None:
    assert isinstance(model, Interrupted)
    model.person = person


async def test_a_step_that_is_under_way_writes_nothing_after_the_erasure(
    talk: Talk, caplog: pytest.LogCaptureFixture
) -> None:
    await talk.say(TOLD)
    interrupted(talk.doors.extraction, talk.participant)
    await talk.end(START + timedelta(minutes=10))
    assert await unit(rows_of, talk.participant) == {}
    assert await unit(tables_with, WORD) == set()
    assert WORD.lower() not in caplog.text.lower()


async def test_a_reply_that_is_being_made_is_not_stored_after_the_erasure(talk: Talk) -> None:
    interrupted(talk.doors.talking, talk.participant)
    with pytest.raises(AssertionError):  # `say` expects the reply to be made
        await talk.say(TOLD, answer=f"Hello {WORD}")
    assert await unit(rows_of, talk.participant) == {}
    assert await unit(tables_with, WORD) == set()
