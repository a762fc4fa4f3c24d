"""A participant whose clock a test moves, talking through the same code as a live one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from chat import conversation, sessions, steps
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.models import Receipt
from experiments.configuration import StudyConfiguration
from experiments.doors import StudyDoors
from experiments.enums import Closed
from experiments.models import Participant, Session, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memlab.core.work import unit
from tests.doors import ScriptedEmbedder, ScriptedModel, items_from, rated, traits_from
from tests.studies import reference_of, scripted

START = datetime(2026, 3, 2, 10, tzinfo=UTC)  # a Monday


@dataclass
class ScriptedDoors:
    """The doors of every study, all scripted; stands where a ``DoorKeeper`` does."""

    talking: ScriptedModel
    extraction: ScriptedModel
    embedder: ScriptedEmbedder = field(default_factory=ScriptedEmbedder)

    async def doors(self, lab_id: int, configuration: StudyConfiguration) -> StudyDoors:
        return StudyDoors(talking=self.talking, extraction=self.extraction, embedder=self.embedder)


async def silence(session: UUID, *frames: dict[str, Any]) -> None:
    """Nobody listens."""


class Talk:
    """One scripted participant: ``stage``, ``say``, ``end``, each at a study time."""

    def __init__(self, study: Study, doors: ScriptedDoors, *, arm: str | None = None) -> None:
        self.study, self.doors, self.arm = study, doors, arm
        self.participant: Participant
        self.session: Session

    async def begin(self, at: datetime = START) -> None:
        self.participant = await unit(scripted, self.study, start=at, arm=self.arm)

    async def stage(self, key: str, at: datetime) -> None:
        """Enter a stage, after whatever memory still has to do."""
        await unit(self._move, at)
        self.session = await unit(self._enter, key)
        await steps.run_steps(self.study.lab_id, self.participant.public_id, self.doors)

    async def say(self, text: str, at: datetime | None = None, *, answer: str = "I see.") -> UUID:
        """Say something and have it answered, once the memory has done what it has to do until
        then; the reply's id."""
        if at is not None:
            await unit(self._move, at)
        self.doors.talking.answers[PromptTask.REPLY] = answer
        said = await unit(
            conversation.say,
            SessionRef.of(reference_of(self.participant), self.session.id),
            client_id=uuid4(),
            text=text,
            wall=wall_now(),
        )
        await steps.run_steps(self.study.lab_id, self.participant.public_id, self.doors)
        assert await make_reply(self.study.lab_id, said.reply, self.doors, silence)
        return said.reply

    async def end(self, at: datetime) -> None:
        """Close the session and consolidate it."""
        await unit(self._move, at)
        await unit(self._close, at)
        await steps.run_steps(self.study.lab_id, self.participant.public_id, self.doors)

    async def receipt(self, reply: UUID) -> Receipt:
        def read() -> Receipt:
            with lab_scope(self.study.lab_id):
                return Receipt.objects.get(reply=reply)

        return await unit(read)

    def _move(self, at: datetime) -> None:
        with lab_scope(self.study.lab_id):
            self.participant.refresh_from_db()
            self.participant.move_script(at)

    def _enter(self, key: str) -> Session:
        with lab_scope(self.study.lab_id):
            return sessions.enter_stage(self.participant, key, wall=wall_now()).session

    def _close(self, at: datetime) -> None:
        with lab_scope(self.study.lab_id):
            session = Session.objects.select_for_update().get(pk=self.session.pk)
            sessions.close(session, Closed.PARTICIPANT, at=at)


def scripted_doors(
    traits: Mapping[str, Mapping[str, str]] | None = None,
    vectors: Mapping[str, Sequence[float]] | None = None,
    items: Mapping[str, Mapping[str, object]] | None = None,
) -> ScriptedDoors:
    """Doors that learn ``traits`` and ``items`` from words, rate everything (0.5, 0.5, 0.5), and
    embed texts as ``vectors`` say."""
    extraction = ScriptedModel(
        {
            PromptTask.EXTRACT_PROFILE: traits_from(traits or {}),
            PromptTask.RATE_SALIENCE: rated(0.5, 0.5, 0.5),
            PromptTask.EXTRACT_ITEMS: items_from(items or {}),
            PromptTask.SCREEN_RISK: '{"category": "none", "severity": "none"}',
        }
    )
    return ScriptedDoors(
        talking=ScriptedModel(), extraction=extraction, embedder=ScriptedEmbedder(vectors)
    )
