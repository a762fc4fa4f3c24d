"""What time does to a memory ends in the same rows, whenever, however often and by whom it is
done: by the tick, before a later step, before a turn, or by a replay."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from chat import claims, conversation, phases, sessions, steps, tasks, upkeep
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.makers import Makers
from chat.models import Receipt
from experiments.enums import Closed, SessionState
from experiments.models import Lab, Participant, Session, Study
from memlab.core.clock import wall_now
from memlab.core.due import HANDED_OUT_FOR, Due, DueKind, tick
from memlab.core.ledger import MAX_ATTEMPTS, Job, JobKind, JobState
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memlab.core.work import unit
from tests.chat.test_take_over import PowerCut, dying
from tests.conversations import START, ScriptedDoors, Talk, scripted_doors, silence
from tests.diary import Diary, Entry, entries
from tests.studies import DAY, enrol, enter, make_study, reference_of

pytestmark = pytest.mark.usefixtures("kept_rows", "diaries")

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture(autouse=True)
def diaries(settings: Any) -> Iterator[None]:
    settings.MEMORY_ARCHITECTURES = {
        **settings.MEMORY_ARCHITECTURES,
        "diary": "tests.diary.Diary",
    }
    yield
    Diary.troubles.clear()
    Diary.unheard.clear()


async def study_of(lab: Lab) -> Study:
    """Its sessions stay open for twenty days without a word."""
    stages = {"idle_minutes": 20 * 24 * 60}
    return await unit(make_study, lab, arms={"diary": "diary"}, stages=stages)


def kept(lab: Lab, participant: Participant) -> list[Entry]:
    with lab_scope(lab.pk):
        return entries(participant.pk)


async def due_of(participant: Participant) -> Due | None:
    rows = Due.objects.filter(kind=DueKind.MAINTAIN, subject=participant.public_id)
    return await unit(rows.first)


async def jobs_of(participant: Participant, kind: JobKind = JobKind.MAINTAIN) -> list[Job]:
    rows = Job.objects.filter(participant=participant.public_id, kind=kind).order_by("pk")
    return await unit(lambda: list(rows))


# One life, led in five ways

Passing = Callable[[Talk, datetime], Awaitable[None]]


async def _missed(talk: Talk, until: datetime) -> None:
    """Nobody looks after the memory until something else does."""


async def _punctual(talk: Talk, until: datetime) -> None:
    """Every six hours somebody looks."""

    def now() -> datetime:
        with lab_scope(talk.study.lab_id):
            talk.participant.refresh_from_db()
            assert talk.participant.scripted_now is not None
            return talk.participant.scripted_now

    while (following := await unit(now) + 6 * HOUR) < until:
        await unit(talk._move, following)
        await run(talk)


async def _doubled(talk: Talk, until: datetime) -> None:
    """Everything is done by two workers at once, and once more though it was done."""
    await _punctual(talk, until)
    jobs = Job.objects.filter(participant=talk.participant.public_id, state=JobState.DONE)
    for job in await unit(lambda: list(jobs)):
        await unit(job.restart)
    await asyncio.gather(run(talk), run(talk))
    await unit(Due.objects.filter(subject=talk.participant.public_id).update, study_at=START)
    await run(talk)


async def run(talk: Talk) -> int:
    return await steps.run_steps(talk.study.lab_id, talk.participant.public_id, talk.doors)


async def life(lab: Lab, passing: Passing, *, arm: str | None = "diary") -> list[Entry]:
    """Two conversations two days apart, then a fortnight."""
    talk = Talk(await study_of(lab), scripted_doors(), arm=arm)
    await talk.begin()
    await talk.stage("T1", START)
    await talk.say("tea", START + MINUTE)
    await talk.say("rain", START + 2 * MINUTE)
    await talk.end(START + 10 * MINUTE)
    await passing(talk, START + 2 * DAY)
    await talk.stage("T2", START + 2 * DAY)
    await talk.say("moss", START + 2 * DAY + MINUTE)
    await passing(talk, START + 3 * DAY + 2 * HOUR)
    await talk.say("owl", START + 3 * DAY + 2 * HOUR)  # after a night with the page left open
    await talk.end(START + 3 * DAY + 3 * HOUR)
    await passing(talk, START + 17 * DAY)
    await unit(talk._move, START + 17 * DAY)
    await run(talk)
    return await unit(kept, lab, talk.participant)


def at(days: float = 0, hours: float = 0, minutes: float = 0) -> datetime:
    return START + timedelta(days=days, hours=hours, minutes=minutes)


LIFE = [
    ("encoded", "tea", at(minutes=1)),
    ("encoded", "rain", at(minutes=2)),
    ("merged", "session", at(minutes=10)),
    ("compressed", "tea", at(1, 0, 1)),
    ("compressed", "rain", at(1, 0, 2)),
    ("rehearsed", "begin", at(2)),
    ("recalled", "rain", at(2, 0, 1)),
    ("recalled", "tea", at(2, 0, 1)),
    ("encoded", "moss", at(2, 0, 1)),
    ("compressed", "moss", at(3, 0, 1)),
    ("compressed", "rain", at(3, 0, 1)),
    ("compressed", "tea", at(3, 0, 1)),
    ("recalled", "moss", at(3, 2)),
    ("recalled", "rain", at(3, 2)),
    ("recalled", "tea", at(3, 2)),
    ("encoded", "owl", at(3, 2)),
    ("merged", "session", at(3, 3)),
    *(
        ("compressed", line, at(days, 2))
        for days in (4, 6, 10)
        for line in ("moss", "owl", "rain", "tea")
    ),
]


@pytest.mark.parametrize("arm", ["diary", None], ids=["lived through", "backfilled"])
@pytest.mark.parametrize("passing", [_missed, _punctual, _doubled])
async def test_a_life_leaves_the_same_rows_whenever_its_memory_is_maintained(
    own_lab: Lab, passing: Passing, arm: str | None
) -> None:
    assert await life(own_lab, passing, arm=arm) == [
        (event, line, study_at, nth) for nth, (event, line, study_at) in enumerate(LIFE)
    ]


# With a clock that runs


class Visit:
    """A test run in its second conversation, one line in its diary, with a clock that runs."""

    def __init__(self, lab: Lab, person: Participant, doors: ScriptedDoors) -> None:
        self.lab, self.person, self.doors = lab, person, doors
        self.session: Session

    async def skip(self, days: float) -> None:
        await unit(self._skip, timedelta(days=days))

    def _skip(self, gap: timedelta) -> None:
        with lab_scope(self.lab.pk):
            locked = Participant.objects.select_for_update().get(pk=self.person.pk)
            locked.skip(gap)

    def let_pass(self, gap: timedelta) -> None:
        """As if time had gone by, in mid-session too."""
        with lab_scope(self.lab.pk):
            Participant.objects.filter(pk=self.person.pk).update(
                clock_offset=F("clock_offset") + gap
            )

    async def enter(self, stage: str) -> None:
        self.session = await unit(enter, self.person, stage)

    async def ask(self, text: str) -> UUID:
        reference = SessionRef.of(reference_of(self.person), self.session.id)
        said = await unit(
            conversation.say, reference, client_id=uuid4(), text=text, wall=wall_now()
        )
        return said.reply

    async def answer(self, reply: UUID) -> bool:
        return await make_reply(self.lab.pk, reply, self.doors, silence)

    async def answer_now(self, text: str) -> None:
        """A turn, and what is to be learned from it."""
        await self.run()
        assert await self.answer(await self.ask(text))
        await self.run()

    async def close(self) -> None:
        def close() -> None:
            with lab_scope(self.lab.pk):
                row = Session.objects.select_for_update().get(pk=self.session.pk)
                sessions.close(row, Closed.PARTICIPANT, at=row.participant.study_time(wall_now()))

        await unit(close)

    async def run(self) -> int:
        return await steps.run_steps(self.lab.pk, self.person.public_id, self.doors)

    async def entries(self) -> list[tuple[str, str]]:
        return [entry[:2] for entry in await unit(kept, self.lab, self.person)]

    async def degraded(self, reply: UUID) -> list[str]:
        def read() -> list[str]:
            with lab_scope(self.lab.pk):
                return list(Receipt.objects.get(reply=reply).degraded)

        return await unit(read)


@pytest.fixture
async def visit(own_lab: Lab) -> Visit:
    doors = scripted_doors()
    doors.talking.answers[PromptTask.REPLY] = "I see."
    person = await unit(enrol, await study_of(own_lab), arm="diary", test_mode=True)
    visit = Visit(own_lab, person, doors)
    await visit.enter("T1")
    assert await visit.answer(await visit.ask("tea"))
    await visit.close()
    assert await visit.run() == 1
    return visit


LIVED = [("encoded", "tea"), ("merged", "session")]


async def test_the_due_row_stands_at_the_next_moment_in_both_times(visit: Visit) -> None:
    due = await due_of(visit.person)
    assert due is not None
    ((_event, _line, encoded, _nth), _merged) = await unit(kept, visit.lab, visit.person)
    assert (due.study_at, due.wall_at) == (encoded + DAY, encoded + DAY)
    await visit.skip(0.5)
    due = await due_of(visit.person)
    assert due is not None
    assert (due.study_at, due.wall_at) == (encoded + DAY, encoded + DAY / 2)


def _queued() -> int:
    return OrmQ.objects.count()


async def test_the_tick_hands_maintenance_out_once_and_its_task_does_it(visit: Visit) -> None:
    await visit.skip(2)
    await unit(OrmQ.objects.all().delete)
    await Makers().look()
    assert await unit(_queued) == 0  # the minute's tick does it
    handed_out = await unit(tick)  # with it the windows of everybody who was enrolled here
    assert handed_out["maintain"] == 1
    assert await unit(tick) == {}
    assert await unit(_queued) == sum(handed_out.values())
    due = await due_of(visit.person)
    assert due is not None
    assert due.wall_at is not None
    assert due.wall_at - wall_now() > HANDED_OUT_FOR - MINUTE
    arguments = (visit.lab.pk, str(visit.person.public_id))
    done = await asyncio.gather(*(asyncio.to_thread(tasks.run_steps, *arguments) for _ in "123"))
    assert sum(done) == 1
    assert await visit.entries() == [*LIVED, ("compressed", "tea")]
    (job,) = await jobs_of(visit.person)
    assert (job.state, job.attempts, job.result) == ("done", 1, {"faded": 1})
    moved = await due_of(visit.person)
    assert moved is not None
    assert moved.study_at == job.study_at + 2 * DAY


async def test_the_command_does_what_is_due_too(visit: Visit) -> None:
    await visit.skip(2)
    out = StringIO()
    study = str((await unit(study_of_lab, visit.lab)).public_id)
    await unit(call_command, "consolidate", study, stdout=out)
    assert out.getvalue() == f"1/1 {visit.person.code}: 1 done, 0 left\n1 steps done.\n"
    assert await visit.entries() == [*LIVED, ("compressed", "tea")]


def study_of_lab(lab: Lab) -> Study:
    with lab_scope(lab.pk):
        return Study.objects.get()


async def test_the_last_moment_leaves_no_due_row(visit: Visit) -> None:
    await visit.skip(30)
    assert await visit.run() == 1
    assert await visit.entries() == [*LIVED, *[("compressed", "tea")] * 3]
    assert await due_of(visit.person) is None
    assert await visit.run() == 0


@pytest.fixture
async def talking(visit: Visit) -> Visit:
    """In the second conversation, whose page has been left open for five days."""
    await visit.skip(1.5)
    await visit.enter("T2")
    await visit.run()
    await unit(visit.let_pass, 5 * DAY)
    return visit


UNTIL_T2 = [*LIVED, ("compressed", "tea"), ("rehearsed", "begin")]


async def pending(visit: Visit) -> list[Job]:
    return [job for job in await jobs_of(visit.person) if job.state == JobState.PENDING]


async def test_a_turn_waits_for_what_is_due_at_its_time(talking: Visit) -> None:
    assert await talking.entries() == UNTIL_T2
    reply = await talking.ask("moss")
    await unit(OrmQ.objects.all().delete)
    answering = asyncio.create_task(talking.answer(reply))
    await asyncio.sleep(3 * steps.LOOK_AGAIN)
    assert not answering.done()
    assert len(await pending(talking)) == 1
    assert await unit(_queued) == 1  # the cluster is asked, before its next tick
    assert await talking.run() == 1
    assert await answering
    assert await talking.degraded(reply) == []
    await talking.run()
    assert await talking.entries() == [
        *UNTIL_T2,
        ("compressed", "tea"),
        ("recalled", "tea"),
        ("encoded", "moss"),
    ]


async def test_a_turn_for_which_nobody_maintains_goes_on_degraded(
    talking: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "PATIENCE", 0.3)
    reply = await talking.ask("moss")
    assert await talking.answer(reply)
    assert await talking.degraded(reply) == ["memory_pending:maintain"]
    assert len(await pending(talking)) == 1


async def give_up(visit: Visit) -> Job:
    Diary.troubles.extend(["summary:timeout"] * MAX_ATTEMPTS)
    for _attempt in range(MAX_ATTEMPTS):
        await visit.run()
        await unit(Job.objects.filter(lab_id=visit.lab.pk).update, not_before=None)
    (job,) = [job for job in await jobs_of(visit.person) if job.state == JobState.FAILED]
    return job


async def test_given_up_maintenance_holds_up_no_turn_and_waits_for_staff(talking: Visit) -> None:
    job = await give_up(talking)
    assert (job.failure, job.attempts) == ("summary:timeout", MAX_ATTEMPTS)
    assert await talking.run() == 0
    due = await due_of(talking.person)
    assert due is not None
    assert (due.study_at, due.wall_at) == (job.study_at, None)  # the tick leaves it alone
    reply = await talking.ask("moss")
    assert await talking.answer(reply)
    assert await talking.degraded(reply) == ["memory_unmaintained"]
    assert await talking.run() == 1  # it is learned from all the same


async def test_staff_may_start_given_up_maintenance_again(talking: Visit) -> None:
    job = await give_up(talking)
    await talking.run()
    await unit(job.restart)
    assert await talking.run() == 1
    assert await talking.entries() == [*UNTIL_T2, ("compressed", "tea")]
    due = await due_of(talking.person)
    assert due is not None
    assert due.wall_at is not None


async def test_a_failed_attempt_is_repeated_before_anything_later_is_done(talking: Visit) -> None:
    Diary.troubles.append("summary:timeout")
    assert await talking.run() == 0
    await talking.close()
    assert await talking.run() == 0  # it rests, and what came later waits for it
    assert await talking.entries() == UNTIL_T2
    await unit(Job.objects.filter(lab_id=talking.lab.pk).update, not_before=None)
    assert await talking.run() == 2
    assert await talking.entries() == [*UNTIL_T2, ("compressed", "tea"), ("merged", "session")]


async def test_upkeep_that_leaves_its_moment_behind_undone_is_not_tried_for_ever(
    talking: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Diary, "_fade", lambda self, now: False)
    assert await talking.run() == 0
    (job,) = await pending(talking)
    assert (job.failure, job.attempts) == ("maintenance_unfinished", 1)


@pytest.mark.parametrize(
    ("where", "line", "after", "left"),
    [
        (phases, "load", False, 0),
        (Diary, "_fade", False, 0),
        (Diary, "_fade", True, 1),
        (steps, "_settle", False, 3),
        (upkeep, "plan", True, 3),
        (steps, "_settle", True, 3),
        (steps, "_plan_rest", False, 3),
    ],
)
async def test_maintenance_may_die_at_any_line(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, where: Any, line: str, after: bool, left: int
) -> None:
    await visit.skip(30)
    with monkeypatch.context() as patch:
        patch.setattr(where, line, dying(getattr(where, line), after=after))
        with pytest.raises(PowerCut):
            await visit.run()
    assert await visit.entries() == [*LIVED, *[("compressed", "tea")] * left]
    await visit.run()
    assert await visit.entries() == [*LIVED, *[("compressed", "tea")] * 3]
    assert await due_of(visit.person) is None
    assert [job.state for job in await jobs_of(visit.person)] == ["done"]


# How far it may go


async def test_it_goes_past_no_question_that_waits_for_its_reply(talking: Visit) -> None:
    await talking.ask("moss")
    await unit(talking.let_pass, 10 * DAY)  # tea would fade again meanwhile
    await talking.run()
    assert await talking.entries() == [*UNTIL_T2, ("compressed", "tea")]


async def test_it_goes_past_no_session_s_end_that_nobody_has_noticed(visit: Visit) -> None:
    await visit.skip(1.5)
    await visit.enter("T2")
    await visit.answer_now("moss")
    await unit(visit.let_pass, 40 * DAY)
    await unit(silent_since, visit, 18 * DAY)  # over two days after its only turn
    await visit.run()
    turn = [*UNTIL_T2, ("recalled", "tea"), ("encoded", "moss")]
    once = [("compressed", "tea"), ("compressed", "moss")]
    assert await visit.entries() == [*turn, *once]

    def close() -> None:
        with lab_scope(visit.lab.pk):
            state = sessions.close_if_due(visit.session.pk, wall=wall_now())
            assert state == SessionState.ENDED

    await unit(close)
    await visit.run()
    assert await visit.entries() == [*turn, *once, ("merged", "session"), *once, *once]


def silent_since(visit: Visit, gap: timedelta) -> None:
    with lab_scope(visit.lab.pk):
        Session.objects.filter(pk=visit.session.pk).update(
            last_activity_at=F("last_activity_at") - gap
        )


# The start of a session, and by hand


async def test_a_session_begins_once_and_before_its_first_turn(visit: Visit) -> None:
    assert await jobs_of(visit.person, JobKind.BEGIN) == []  # the first stage has no manipulation
    await visit.skip(1.5)
    await visit.enter("T2")
    await visit.enter("T2")  # on another device
    reply = await visit.ask("moss")
    claim = await unit(claims.claim, visit.lab.pk, reply, wall=wall_now())
    assert claim is not None
    assert claim.turnstile is None  # it waits
    assert await visit.run() == 2
    assert await visit.entries() == UNTIL_T2
    (job,) = await jobs_of(visit.person, JobKind.BEGIN)
    assert (job.subject, job.study_at, job.state) == (
        visit.session.pk,
        visit.session.started_at,
        "done",
    )


async def test_by_hand_comes_after_what_is_due_and_once(visit: Visit) -> None:
    await visit.skip(2)

    def ask() -> None:
        with lab_scope(visit.lab.pk):
            person = Participant.objects.get(pk=visit.person.pk)
            upkeep.by_hand(person, wall=wall_now())
            upkeep.by_hand(person, wall=wall_now())

    await unit(ask)
    assert await visit.run() == 2
    assert await visit.entries() == [*LIVED, ("compressed", "tea"), ("shifted", "by hand")]


# Backfill


async def test_a_turn_that_could_not_be_learned_from_ends_a_backfill_there(own_lab: Lab) -> None:
    talk = Talk(await study_of(own_lab), scripted_doors())
    await talk.begin()
    await talk.stage("T1", START)
    for number, line in enumerate(("tea", "rain", "moss")):
        await talk.say(line, START + number * MINUTE)
    await talk.end(START + 10 * MINUTE)
    Diary.unheard.append("rain")
    await talk.stage("T2", START + 3 * DAY)
    assert [entry[1] for entry in await unit(kept, own_lab, talk.participant)] == ["tea"]
    await unit(Job.objects.filter(lab_id=own_lab.pk).update, not_before=None)
    await run(talk)
    kept_now = await unit(kept, own_lab, talk.participant)
    assert [entry[:2] for entry in kept_now] == [
        ("encoded", "tea"),
        ("encoded", "rain"),
        ("encoded", "moss"),
        ("merged", "session"),
        *(("compressed", line) for line in ("tea", "rain", "moss")),
        ("compressed", "tea"),  # at the very moment at which the session begins
        ("rehearsed", "begin"),
    ]


async def test_a_memory_at_rest_costs_a_turn_one_statement_maintained_or_not(own_lab: Lab) -> None:
    study = await unit(make_study, own_lab, arms={"sensory": "sensory", "diary": "diary"})
    counts = {}
    for arm in ("sensory", "diary"):
        person = await unit(enrol, study, arm=arm)

        def look(person: Participant = person, arm: str = arm) -> int:
            maintained = None if arm == "sensory" else wall_now()
            with CaptureQueriesContext(connection) as captured:
                assert steps.look_for_memory(
                    own_lab.pk, person.public_id, 60, maintained=maintained
                )
            return len(captured)

        counts[arm] = await unit(look)
    assert counts == {"sensory": 1, "diary": 1}
