"""A reply and a memory step survive the death of whoever makes them, at whatever line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError

from chat import claims, conversation, doorbell, generation, phases, sessions, steps
from chat.claims import Claim
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.makers import Makers
from chat.models import Receipt, Reply
from chat.models.reply import FIRST_REST, LEASE, MAX_ATTEMPTS
from experiments.enums import Closed, SessionState
from experiments.models import Lab, Participant, Session
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.lease import ParticipantLease
from memlab.core.ledger import MAX_ATTEMPTS as MOST_JOB_ATTEMPTS
from memlab.core.ledger import Job
from memlab.core.llm.base import Completion, FailureKind, ModelFailure, TextDelta
from memlab.core.renewal import LeaseLost, renewed
from memlab.core.tenancy import lab_scope
from memlab.core.values import Prompt, PromptTask
from memlab.core.work import unit
from memory.models import ConsolidationRun, Episode, MemoryEvent
from tests.conversations import ScriptedDoors, scripted_doors, silence
from tests.doors import ScriptedModel
from tests.studies import enrol, enter, make_study, reference_of

pytestmark = pytest.mark.usefixtures("kept_rows")

EASILY = {"initial_g": 20.0, "recall_threshold": 0.05, "encoding": "message"}


class PowerCut(BaseException):
    """Ends a process at one line; no handler of ours may catch it."""


@dataclass
class Turn:
    """A participant with one remembered conversation, who has just said something in the next."""

    lab: Lab
    person: Participant
    session: Session
    reply: UUID
    doors: ScriptedDoors

    async def make(self, doors: ScriptedDoors | None = None) -> bool:
        return await make_reply(self.lab.pk, self.reply, doors or self.doors, silence)

    async def row(self) -> Reply:
        def read() -> Reply:
            with lab_scope(self.lab.pk):
                return Reply.objects.select_related("message").get(pk=self.reply)

        return await unit(read)

    async def counts(self) -> tuple[int, int, int]:
        """Receipts of the reply, events of strengthening, and the episode's own count."""

        def read() -> tuple[int, int, int]:
            with lab_scope(self.lab.pk):
                return (
                    Receipt.objects.filter(reply=self.reply).count(),
                    MemoryEvent.objects.filter(event="recalled").count(),
                    Episode.objects.get().recall_count,
                )

        return await unit(read)


def said(person: Participant, session: Session, text: str) -> UUID:
    reference = SessionRef.of(reference_of(person), session.id)
    return conversation.say(reference, client_id=uuid4(), text=text, wall=wall_now()).reply


def closed(session: Session) -> None:
    with lab_scope(session.lab_id):
        row = Session.objects.select_for_update().get(pk=session.pk)
        sessions.close(row, Closed.PARTICIPANT, at=wall_now())


@pytest.fixture
async def turn(own_lab: Lab) -> Turn:
    doors = scripted_doors()
    doors.talking.answers[PromptTask.REPLY] = "I see."
    study = await unit(
        make_study, own_lab, arms={"hybrid": ("hybrid", EASILY)}, relevance="raw",
        stages={"minimum_gap_hours": 0},
    )  # fmt: skip
    person = await unit(enrol, study, arm="hybrid")
    first = await unit(enter, person)
    await make_reply(
        own_lab.pk, await unit(said, person, first, "My parrot is called Rio."), doors, silence
    )
    await unit(closed, first)
    assert await steps.run_steps(own_lab.pk, person.public_id, doors) == 1
    session = await unit(enter, person, "T2")
    reply = await unit(said, person, session, "What is my parrot called?")
    return Turn(own_lab, person, session, reply, doors)


def later(seconds: float) -> Callable[[], datetime]:
    return lambda: wall_now() + timedelta(seconds=seconds)


def dying(work: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    """The same, but the power goes before or after it."""

    def dies(*args: Any, **kwargs: Any) -> Any:
        if after:
            work(*args, **kwargs)
        raise PowerCut

    return dies


@pytest.mark.parametrize(
    ("where", "line", "after", "done"),
    [
        (claims, "claim", False, False),
        (claims, "claim", True, False),
        (steps, "look_for_memory", True, False),
        (claims, "store", False, False),
        (claims, "store", True, True),
    ],
    ids=["before the claim", "after it", "within it", "before storing", "after storing"],
)
async def test_a_maker_may_die_at_any_line(
    turn: Turn, monkeypatch: pytest.MonkeyPatch, where: Any, line: str, after: bool, done: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(where, line, dying(getattr(where, line), after=after))
        with pytest.raises(PowerCut):
            await turn.make()
    monkeypatch.setattr(generation, "wall_now", later(60))
    monkeypatch.setattr(steps, "wall_now", later(60))
    assert (await turn.row()).state == ("done" if done else "pending")
    assert await turn.make() is not done
    reply = await turn.row()
    assert (reply.state, reply.message.text) == ("done", "I see.")
    assert reply.attempt == (1 if done or where is steps or (line == "claim" and not after) else 2)
    assert await turn.counts() == (1, 1, 1)
    assert not await turn.make()
    assert await turn.counts() == (1, 1, 1)


@pytest.mark.parametrize("after", [False, True])
async def test_a_maker_may_die_while_it_says_that_it_failed(
    turn: Turn, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    doors = scripted_doors()
    doors.embedder = turn.doors.embedder
    doors.talking.answers[PromptTask.REPLY] = ModelFailure(FailureKind.BAD_REQUEST, "scripted")
    with monkeypatch.context() as patch:
        patch.setattr(claims, "fail", dying(claims.fail, after=after))
        with pytest.raises(PowerCut):
            await turn.make(doors)
    assert (await turn.row()).state == ("failed" if after else "pending")
    monkeypatch.setattr(generation, "wall_now", later(60))
    assert await turn.make() is not after
    assert (await turn.row()).state == ("failed" if after else "done")
    assert await turn.counts() == ((0, 0, 0) if after else (1, 1, 1))


def faulty(*_: Any, **__: Any) -> Any:
    raise KeyError("a fault of ours")


async def test_a_fault_of_ours_frees_the_reply_at_once(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(generation, "_made", faulty)
        before = wall_now()
        with pytest.raises(KeyError):
            await turn.make()
    reply = await turn.row()
    assert (reply.state, reply.lease_until, reply.deaths) == ("pending", None, 1)
    due = await unit(Due.objects.get, kind=DueKind.REPLY, subject=turn.reply)
    assert due.wall_at is not None
    assert before + FIRST_REST <= due.wall_at <= wall_now() + FIRST_REST
    assert await unit(ParticipantLease.objects.filter(participant=turn.person.public_id).count) == 0
    assert await turn.make()
    assert ((await turn.row()).attempt, (await turn.row()).deaths) == (2, 1)
    assert await turn.counts() == (1, 1, 1)


async def test_a_fault_that_stays_ends_in_a_failure_that_the_tabs_are_told(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []

    async def tell(session: UUID, *frames: dict[str, Any]) -> None:
        told.extend(frames)

    monkeypatch.setattr(claims, "store", faulty)
    rests = []
    for _ in range(MAX_ATTEMPTS - 1):
        before = wall_now()
        with pytest.raises(KeyError):
            await make_reply(turn.lab.pk, turn.reply, turn.doors, tell)
        due = await unit(Due.objects.get, kind=DueKind.REPLY, subject=turn.reply)
        assert due.wall_at is not None
        rests.append((due.wall_at - before) // FIRST_REST)
    assert rests == [1, 2, 4, 8]
    assert await make_reply(turn.lab.pk, turn.reply, turn.doors, tell)
    reply = await turn.row()
    assert (reply.state, reply.failure, reply.retryable) == ("failed", "abandoned", False)
    assert told[-1] == {"type": "failed", "seq": 2, "attempt": 5, "retryable": False}
    assert not await turn.make()
    assert await turn.counts() == (0, 0, 0)


async def test_who_was_overtaken_gives_nothing_back(turn: Turn) -> None:
    old = await claim_of(turn, 0)
    new = await claim_of(turn, 16)
    assert await unit(claims.give_back, old, wall=wall_now()) is None
    row = await turn.row()
    assert (row.attempt, row.deaths, row.died()) == (new.attempt, 1, True)


async def test_makers_who_race_for_a_reply_make_it_once(turn: Turn) -> None:
    before = len(turn.doors.talking.prompts)
    made = await asyncio.gather(*(turn.make() for _ in range(6)))
    assert sorted(made) == [False] * 5 + [True]
    assert len(turn.doors.talking.prompts) == before + 1
    assert (await turn.row()).attempt == 1
    assert await turn.counts() == (1, 1, 1)


async def claim_of(turn: Turn, seconds: float) -> Claim:
    claim = await unit(claims.claim, turn.lab.pk, turn.reply, wall=later(seconds)())
    assert claim is not None
    return claim


async def test_an_older_attempt_writes_nothing_any_more(turn: Turn) -> None:
    old = await claim_of(turn, 0)
    assert await unit(claims.claim, turn.lab.pk, turn.reply, wall=later(1)()) is None
    new = await claim_of(turn, 16)
    assert (old.attempt, new.attempt) == (1, 2)
    assert not await unit(claims.heartbeat, old, wall=wall_now())
    assert await unit(claims.heartbeat, new, wall=later(16)())
    assert (await turn.row()).lease_until is not None
    failure = ModelFailure(FailureKind.TIMEOUT, "scripted")
    assert await unit(claims.fail, old, failure, wall=wall_now()) is None
    assert await unit(claims.fail, new, failure, wall=wall_now()) is not None
    # Settled by itself: nothing was taken from it.
    assert await unit(claims.heartbeat, new, wall=wall_now())
    assert not await unit(claims.heartbeat, old, wall=wall_now())


class Stalling(ScriptedModel):
    """Says one word and then nothing, for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.ended = asyncio.Event(), asyncio.Event()

    async def stream(self, prompt: Prompt, **_: Any) -> AsyncIterator[TextDelta | Completion]:
        try:
            yield TextDelta("Well")
            self.begun.set()
            await asyncio.Event().wait()
        finally:
            self.ended.set()


async def test_who_loses_the_lease_stops_and_the_other_goes_on(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "LEASE", timedelta(seconds=0.2))
    model = Stalling()
    stalling = ScriptedDoors(model, turn.doors.extraction, turn.doors.embedder)
    making = asyncio.create_task(turn.make(stalling))
    await model.begun.wait()
    await claim_of(turn, 60)
    assert await asyncio.wait_for(making, 5) is False
    assert not making.cancelled()
    assert model.ended.is_set()
    assert await unit(ParticipantLease.objects.filter(participant=turn.person.public_id).count) == 0
    monkeypatch.setattr(generation, "wall_now", later(120))
    assert await turn.make()
    assert (await turn.row()).attempt == 3
    assert await turn.counts() == (1, 1, 1)


async def test_without_the_memory_s_lease_nothing_is_stored(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stolen(*args: Any, **kwargs: Any) -> Any:
        ParticipantLease.objects.filter(participant=turn.person.public_id).update(holder=uuid4())
        return store(*args, **kwargs)

    store = claims.store
    monkeypatch.setattr(claims, "store", stolen)
    assert await turn.make() is False
    assert (await turn.row()).state == "pending"
    assert await turn.counts() == (0, 0, 0)


async def test_a_reply_whose_every_attempt_dies_is_given_up_and_the_next_goes_on(
    turn: Turn,
) -> None:
    following = await unit(said, turn.person, turn.session, "Hello?")
    for number in range(MAX_ATTEMPTS):
        await claim_of(turn, number * 16)
    maker = Makers()
    maker.keeper = turn.doors  # type: ignore[assignment]
    await unit(expire, turn.lab.pk, turn.reply)
    maker.start(turn.lab.pk, turn.session.id)
    await asyncio.wait_for(asyncio.gather(*maker._tasks.values()), 10)
    assert ((await turn.row()).state, (await turn.row()).failure) == ("failed", "abandoned")
    turn.reply = following
    assert (await turn.row()).state == "done"


def expire(lab_id: int, reply: UUID) -> None:
    with lab_scope(lab_id):
        Reply.objects.filter(pk=reply).update(lease_until=wall_now() - LEASE)
        ParticipantLease.objects.filter(lab_id=lab_id).delete()


# Memory steps


@pytest.fixture
async def ended(turn: Turn) -> Turn:
    """The second conversation has ended too; its consolidation is pending."""
    assert await turn.make()
    await unit(closed, turn.session)
    return turn


async def job_of(turn: Turn) -> Job:
    return await unit(lambda: Job.objects.get(subject=turn.session.id))


async def written(turn: Turn) -> tuple[int, int, int]:
    def read() -> tuple[int, int, int]:
        with lab_scope(turn.lab.pk):
            runs = ConsolidationRun.objects.filter(subject=turn.session.id)
            episodes = Episode.objects.filter(session_id=turn.session.id)
            events = MemoryEvent.objects.filter(session_id=turn.session.id, event="encoded")
            return runs.count(), episodes.count(), events.count()

    return await unit(read)


async def run(turn: Turn) -> int:
    return await steps.run_steps(turn.lab.pk, turn.person.public_id, turn.doors)


@pytest.mark.parametrize(
    ("where", "line", "after", "before"),
    [
        (steps, "_next_job", True, (0, 0, 0)),
        (phases, "load", False, (0, 0, 0)),
        (steps, "_settle", False, (2, 1, 1)),
        (steps, "_settle", True, (2, 1, 1)),
        (steps, "_plan_rest", False, (2, 1, 1)),
    ],
)
async def test_a_step_may_die_at_any_line(
    ended: Turn,
    monkeypatch: pytest.MonkeyPatch,
    where: Any,
    line: str,
    after: bool,
    before: tuple[int, int, int],
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(where, line, dying(getattr(where, line), after=after))
        with pytest.raises(PowerCut):
            await run(ended)
    assert await written(ended) == before
    rows = Due.objects.filter(kind=DueKind.STEPS, subject=ended.person.public_id)
    assert await unit(rows.count) == 1
    await run(ended)
    assert await written(ended) == (2, 1, 1)
    assert (await job_of(ended)).state == "done"
    assert await unit(rows.count) == 0
    assert await run(ended) == 0
    assert await written(ended) == (2, 1, 1)


async def test_workers_who_race_for_a_step_do_it_once(ended: Turn) -> None:
    done = await asyncio.gather(*(run(ended) for _ in range(5)))
    assert sum(done) == 1
    assert await written(ended) == (2, 1, 1)
    assert (await job_of(ended)).attempts == 1


async def test_a_step_that_kills_every_worker_is_given_up(ended: Turn) -> None:
    job = await job_of(ended)
    for _ in range(MOST_JOB_ATTEMPTS):
        assert await unit(job.begin)
    await run(ended)
    job = await job_of(ended)
    assert (job.state, job.failure) == ("failed", "died")
    session = await unit(enter, ended.person, "T2")
    assert (session.state, session.degraded) == (SessionState.ENDED, ["died"])


async def test_a_worker_who_was_overtaken_doesn_t_undo_what_the_other_did(ended: Turn) -> None:
    job = await job_of(ended)
    await unit(job.begin)
    await unit(job.finish, wall=wall_now(), result={"episode": 1})
    await unit(job.fail, wall=wall_now(), code="late")
    job = await job_of(ended)
    assert (job.state, job.failure) == ("done", "")


async def test_a_lost_lease_ends_a_step_without_cancelling_its_task(
    ended: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LEASE", timedelta(seconds=0.2))
    stalled = asyncio.Event()

    class Stalled(ScriptedDoors):
        async def doors(self, *_: Any) -> Any:
            stalled.set()
            await asyncio.Event().wait()

    doors = Stalled(ended.doors.talking, ended.doors.extraction)
    running = asyncio.create_task(steps.run_steps(ended.lab.pk, ended.person.public_id, doors))
    await stalled.wait()
    leases = ParticipantLease.objects.filter(participant=ended.person.public_id)
    await unit(leases.update, holder=uuid4())
    assert await asyncio.wait_for(running, 5) == 0
    await unit(leases.delete)
    assert await run(ended) == 1


# Holding on, and telling the tabs


async def test_a_database_that_is_away_for_a_moment_loses_no_lease() -> None:
    answers: list[Any] = [OperationalError("away"), True, False]

    async def renew() -> bool:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    with pytest.raises(LeaseLost):
        async with renewed(renew, every=0.01):
            await asyncio.sleep(5)
    assert answers == []
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_somebody_else_s_cancelling_stays_a_cancelling() -> None:
    async def hold() -> None:
        async with renewed(lambda: asyncio.sleep(0, True), every=0.01):
            await asyncio.sleep(5)

    holding = asyncio.create_task(hold())
    await asyncio.sleep(0.05)
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding


async def test_a_reply_is_made_though_nobody_can_be_told(turn: Turn, settings) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": ["redis://127.0.0.1:1/0"]},
        }
    }
    assert await make_reply(turn.lab.pk, turn.reply, turn.doors, doorbell.ring)
    assert (await turn.row()).state == "done"


async def test_one_bad_due_row_holds_up_no_other(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await unit(Due.objects.all().delete)
    bad, gone = uuid4(), uuid4()
    for subject, kind in ((bad, "steps"), (turn.reply, "reply"), (gone, "session")):
        await unit(
            Due.objects.plan, lab_id=turn.lab.pk, kind=DueKind(kind), subject=subject,
            study_at=None, wall_at=wall_now() - timedelta(seconds=len(kind)),
        )  # fmt: skip
    monkeypatch.setattr("chat.makers.async_task", dying(lambda *_: None, after=False))
    monkeypatch.setattr("tests.chat.test_take_over.PowerCut", RuntimeError)
    maker = Makers()
    maker.keeper = turn.doors  # type: ignore[assignment]
    await maker.look()
    await asyncio.wait_for(asyncio.gather(*maker._tasks.values()), 10)
    assert (await turn.row()).state == "done"
    left = await unit(lambda: set(Due.objects.values_list("subject", flat=True)))
    assert bad in left
    assert not left & {gone, turn.reply}
