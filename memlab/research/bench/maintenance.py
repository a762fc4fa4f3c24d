"""Maintenance: many memories of which few are due, by the steps that the task cluster runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

import numpy as np
from django.db import connection
from numpy.random import Generator

from chat import steps
from experiments.configuration import StudyConfiguration
from experiments.doors import DoorKeeper, Keys, StudyDoors
from experiments.models import Participant, Study
from memlab.core.clock import wall_now
from memlab.core.embeddings.local import ID as EMBEDDER
from memlab.core.llm import open_model
from memlab.core.tenancy import lab_scope
from memlab.research.bench import crowd
from memlab.research.bench.doors import InstantEmbedder, SteadyModel
from memlab.research.bench.laboratory import enrol, make_study, sentence
from memlab.research.bench.report import Figure
from memlab.research.bench.vectors import Vectors, unrelated
from memory.models import Compressible, RetainedItem
from memory.models.base import Memory
from memory.models.content import Content
from memory.models.ladder import Ladder
from memory.models.retention_rule import Point, Retention

DAY = timedelta(days=1)
#: Ages in days at which nothing is due for at least two days, whatever the level.
QUIET = ((0.0, 5.0), (9.0, 28.0), (32.0, 88.0), (92.0, 178.0))
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many participants there are, how many memories each has, and which share is due."""

    participants: int = 100
    memories: int = 2_000
    share: float = 0.01

    @property
    def rows(self) -> int:
        return self.participants * self.memories

    @property
    def due(self) -> int:
        """Of each participant."""
        return max(1, round(self.memories * self.share))


QUICK = Size(participants=10)


def measure(size: Size, say: Say) -> list[Figure]:
    """Every figure of maintenance, on the default connection's database."""
    random = np.random.default_rng(11)
    study = make_study("bench of maintenance", further=("compression", "retention"))
    now = wall_now()
    people = _people(study, "compression", size, say, Compressible, _statements(size, now, random))
    figures = _measured(people, Compressible, size, "compressed to a trace", now - DAY / 2, say)
    with lab_scope(study.lab_id):
        Participant.objects.filter(pk__in=[each.pk for each in people]).update(clock_offset=DAY)
    figures += _measured(people, Compressible, size, "summarised offline", now + DAY / 2, say)
    people = _people(study, "retention", size, say, RetainedItem, _items(size, now, random))
    figures += _measured(people, RetainedItem, size, "archived", now - DAY / 2, say)
    return figures


def _measured(
    people: Sequence[Participant],
    kind: type[Memory],
    size: Size,
    what: str,
    moment: datetime,
    say: Say,
) -> list[Figure]:
    """Everybody's share that has been due since ``moment``, and then nothing."""
    say(f"maintenance: {size.due * len(people)} of {size.rows} memories {what}")
    lab_id = people[0].lab_id
    with lab_scope(lab_id):
        for person in Participant.objects.select_for_update().filter(
            pk__in=[each.pk for each in people]
        ):
            person.maintain_at(moment)
    with _written(kind, lab_id) as written:
        spent = _run(people)
        rows = written()
    name = f"maintenance, {size.share:.0%} of {size.rows} memories {what}"
    over = rows - size.due * len(people)
    return [
        Figure(name=name, value=size.due * len(people) / spent, unit="rows/s"),
        Figure(name=f"{name}, rows written beside those", value=over, unit="rows", goal=0.0),
        Figure(
            name=f"{name}, a participant again with nothing due",
            value=_run(people) / len(people) * 1000,
            unit="ms",
        ),
    ]


def _run(people: Sequence[Participant]) -> float:
    """Seconds that one worker takes for everybody's steps."""

    async def everybody() -> None:
        keeper = DoorKeeper(_summarising)
        try:
            for person in people:
                await steps.run_steps(person.lab_id, person.public_id, keeper)
        finally:
            await keeper.aclose()

    started = time.perf_counter()
    asyncio.run(everybody())
    return time.perf_counter() - started


def _summarising(configuration: StudyConfiguration, keys: Keys) -> StudyDoors:
    """Summaries by rule; nobody talks, and nothing is embedded."""
    extraction = open_model("offline", "offline-1")
    return StudyDoors(talking=SteadyModel(), extraction=extraction, embedder=InstantEmbedder())


@contextmanager
def _written(kind: type[Memory], lab_id: int) -> Iterator[Callable[[], int]]:
    """Counts the rows that were written meanwhile: those with another version than before."""
    table = kind._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {table}")
        with lab_scope(lab_id):
            cursor.execute(
                f"CREATE TEMP TABLE bench_before AS SELECT id, xmin::text AS version FROM {table}"
            )

    def written() -> int:
        with lab_scope(lab_id), connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM {table} JOIN bench_before AS before USING (id)"
                f" WHERE {table}.xmin::text <> before.version"
            )
            return int(cursor.fetchone()[0])

    try:
        yield written
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE bench_before")


def _people(
    study: Study,
    arm: str,
    size: Size,
    say: Say,
    kind: type[Memory],
    memories: Callable[[Participant], Sequence[Memory]],
) -> list[Participant]:
    """Participants of an arm, who all have the same memories."""
    say(f"maintenance: making {size.rows} memories of {arm}")
    first, *others = enrol(study, size.participants, wall=wall_now(), arm=arm)
    with lab_scope(study.lab_id):
        rows = kind._default_manager.bulk_create(memories(first), batch_size=500)
    for start in range(0, len(others), 10):
        crowd.copy(kind, study.lab_id, [row.pk for row in rows], others[start : start + 10])
    return [first, *others]


def _statements(
    size: Size, now: datetime, random: Generator
) -> Callable[[Participant], list[Memory]]:
    """Statements at the level of their age: a share due for a trace since half a day, a share due
    for a summary in half a day, and all others not for days."""
    ages = [90.5] * size.due + [6.5] * size.due
    ages += [float(_quiet(random)) for _ in range(size.memories - len(ages))]
    ladder = Ladder()

    def made(person: Participant) -> list[Memory]:
        vectors = unrelated(random, len(ages))
        return [
            _statement(person, vector, now, age, ladder, random)
            for vector, age in zip(vectors, ages, strict=True)
        ]

    return made


def _quiet(random: Generator) -> float:
    low, high = QUIET[int(random.integers(len(QUIET)))]
    return float(random.uniform(low, high))


def _statement(
    person: Participant,
    vector: Vectors,
    now: datetime,
    age: float,
    ladder: Ladder,
    random: Generator,
) -> Compressible:
    text = sentence(random)
    row = Compressible(
        **_common(person, vector), language="en", message_ids=[uuid4()], stage_key="t1"
    )
    content = Content(text=text, topic=text[:20].strip(), tags=("#social:sister",))
    row.create(content, ladder=ladder, at=now - age * DAY, note={})
    row.walk(ladder=ladder, now=now - DAY, summary=text[: len(text) // 2])
    return row


def _items(size: Size, now: datetime, random: Generator) -> Callable[[Participant], list[Memory]]:
    """Items at hand: a share left half a day ago, the others don't leave for days."""
    retention = Retention()

    def item(person: Participant, vector: Vectors, due: bool) -> RetainedItem:
        importance = float(random.uniform(0.3, 1.0))
        stays = retention.leaving(importance=importance, hits=0, since=Point(at=now, turn=0)).at
        assert stays is not None
        at = now - (stays - now) - DAY / 2 if due else now
        row = RetainedItem(
            **_common(person, vector),
            importance=importance,
            anchor=at,
            anchor_turn=0,
            encoded_at=at,
            text=sentence(random)[:190],
            keywords=["sister"],
            message_ids=[uuid4()],
            stage_key="t1",
        )
        row.set_leaving(retention)
        return row

    def made(person: Participant) -> list[Memory]:
        vectors = unrelated(random, size.memories)
        return [item(person, vector, n < size.due) for n, vector in enumerate(vectors)]

    return made


def _common(person: Participant, vector: Vectors) -> dict[str, object]:
    return {
        "id": uuid4(),
        "lab_id": person.lab_id,
        "participant": person,
        "session_id": uuid4(),
        "session_number": 1,
        "embedder": EMBEDDER,
        "vector": vector,
    }
