"""Living a dialogue through: the live chat's own code at the recorded times.

Messages are said, replies made and stored, sessions closed and memories consolidated by the same
functions that serve a socket; only the talking model, the clock and the audience differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid5

from chat import conversation, sessions, steps
from chat.claims import Frame
from chat.conversation import Said, SessionRef
from chat.generation import make_reply
from chat.models.message import message_id
from experiments import architectures
from experiments.models import Participant, Session
from memlab.core.clock import wall_now
from memlab.core.ledger import Job
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memlab.research.replay.dialogue import Dialogue, Exchange, Line, RecordedSession, script
from memlab.research.replay.recorded import RecordedDoors
from memlab.research.replay.study import stage_key
from memory.architectures.base import Architecture


class ReplayFailed(Exception):
    """The live code did not do with a recording what it would do with people."""


async def nowhere(session: UUID, *frames: Frame) -> None:
    """Nobody watches a replay."""


@dataclass(slots=True, kw_only=True)
class Lived:
    """A participant who lives a dialogue; ``messages`` are our ids by the dialogue's."""

    lab_id: int
    participant: Participant
    architecture: str
    doors: RecordedDoors
    messages: dict[str, UUID] = field(default_factory=dict)

    async def live(
        self,
        dialogue: Dialogue,
        *,
        on_session: Callable[[int], None],
        on_exchange: Callable[[], None],
    ) -> None:
        """Every session of the dialogue, and the consolidation after each."""
        for number, session in enumerate(dialogue.sessions, start=1):
            on_session(number)
            await self._session(number, session, on_exchange)

    async def _session(
        self, number: int, recorded: RecordedSession, on_exchange: Callable[[], None]
    ) -> None:
        reference = await unit(self._enter, number, recorded.started_at)
        await self._run_steps()
        for step in script(recorded):
            if isinstance(step, Line):
                self.messages[step.message.id] = await unit(self._line, reference, step)
            else:
                await self._exchange(reference, step)
                on_exchange()
        if not await unit(self._finish, reference, recorded.ended_at):
            raise ReplayFailed(f"session {number} could not be finished")
        await self._run_steps()

    def _enter(self, number: int, at: datetime) -> SessionRef:
        with lab_scope(self.lab_id):
            self._move(at)
            entered = sessions.enter_stage(self.participant, stage_key(number), wall=wall_now())
            return SessionRef(
                lab_id=self.lab_id,
                participant=self.participant.public_id,
                session=entered.session.id,
            )

    def _line(self, reference: SessionRef, line: Line) -> UUID:
        """A line of the assistant's that answers nothing; the stage itself says the opening one."""
        if line.opening:
            return message_id(reference.session, 1)
        with lab_scope(self.lab_id):
            self._move(line.message.at)
            session = Session.objects.select_for_update().get(pk=reference.session)
            stored = sessions.add_assistant_line(
                session, line.message.text, at=line.message.at, wall=wall_now()
            )
            return stored.id

    async def _exchange(self, reference: SessionRef, exchange: Exchange) -> None:
        said = await unit(self._say, reference, exchange)
        self.messages[exchange.said.id] = message_id(reference.session, said.seq)
        answered = exchange.answered
        if answered is not None:
            self.messages[answered.id] = message_id(reference.session, said.reply_seq)
        if self._kind.maintains:
            await self._run_steps()
        self.doors.talking.reply = None if answered is None else answered.text
        if not await make_reply(self.lab_id, said.reply, self.doors, announce=nowhere):
            raise ReplayFailed(f"the reply to message {exchange.said.id} was not stored")
        if self._kind.observes:
            await self._run_steps()

    def _say(self, reference: SessionRef, exchange: Exchange) -> Said:
        """Store a message at its time, and let the clock run on to that of its reply."""
        with lab_scope(self.lab_id):
            self._move(exchange.said.at)
            said = conversation.say(
                reference,
                client_id=uuid5(reference.session, exchange.said.id),
                text=exchange.said.text,
                wall=wall_now(),
            )
            if exchange.answered is not None:
                self._move(exchange.answered.at)
            return said

    def _finish(self, reference: SessionRef, at: datetime) -> bool:
        with lab_scope(self.lab_id):
            self._move(at)
            return conversation.finish(reference, wall=wall_now())

    def _move(self, at: datetime) -> None:
        self.participant.move_script(at)

    async def wait(self, until: datetime) -> None:
        """Let time do to the memory what it does until then, after the last session. The clock
        never runs back, and where time does nothing it stays."""
        if self._kind.maintains and await unit(self._passed, until):
            await self._run_steps()

    def _passed(self, until: datetime) -> bool:
        with lab_scope(self.lab_id):
            now = self.participant.scripted_now
            later = now is not None and until > now
            if later:
                self._move(until)
            return later

    @property
    def _kind(self) -> type[Architecture]:
        kind = architectures.architecture(self.architecture)
        assert isinstance(kind, type)
        assert issubclass(kind, Architecture)
        return kind

    async def _run_steps(self) -> None:
        """What the task cluster does before and between turns and sessions, maintenance that the
        recorded time has made due included. A step that failed is tried again at once, for nobody
        is waiting, until the ledger gives it up."""
        while True:
            await steps.run_steps(self.lab_id, self.participant.public_id, self.doors)
            if not await unit(self._rested):
                return

    def _rested(self) -> bool:
        """Let steps that rest after a failure start now; whether there are any."""
        failed = Job.objects.filter(
            participant=self.participant.public_id, not_before__isnull=False, state="pending"
        )
        return failed.update(not_before=None) > 0
