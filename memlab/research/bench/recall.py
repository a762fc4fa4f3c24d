"""Recall under the forgetting curve against a bare nearest-neighbour query on the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from uuid import uuid4

import numpy as np
from numpy.random import Generator

from experiments.models import Participant, Study
from memlab.core.clock import wall_now
from memlab.core.embeddings.local import ID as EMBEDDER
from memlab.core.tenancy import lab_scope
from memlab.research.bench import crowd
from memlab.research.bench.bare import TOP, PlainCopy, plain_copy
from memlab.research.bench.laboratory import WEEKLY, enrol, make_study, relevance, remembered
from memlab.research.bench.report import Figure, ratio
from memlab.research.bench.vectors import cues, unrelated
from memory import search
from memory.models import Episode
from memory.search import Query

DAYS = 84.0  # twelve weeks
#: Goals for (L4 ÷ bare) of the smaller and the larger memory, and for L4 beside others ÷ alone.
GOALS = (1.0, 0.7)
BESIDE_GOAL = 1.1
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many episodes the two measured participants have, how often each is asked (the quicker
    one more often, for as steady a median), and how many episodes others have."""

    episodes: tuple[int, int] = (1_000, 10_000)
    others: int = 500_000
    runs: tuple[int, int] = (2_000, 400)


QUICK = Size(others=50_000, runs=(1_000, 200))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A participant with the questions that are put to their memory."""

    participant: Participant
    queries: tuple[Query, ...]
    count: int


def measure(size: Size, say: Say) -> list[Figure]:
    """Every figure of recall, on the default connection's database."""
    random = np.random.default_rng(7)
    study = make_study("bench of recall")
    subjects = [_subject(study, count, random) for count in size.episodes]
    with plain_copy(Episode, study.lab_id, order="encoded_at") as plain:
        return _measured(study, subjects, plain, size, random, say)


def _measured(
    study: Study,
    subjects: Sequence[Subject],
    plain: PlainCopy,
    size: Size,
    random: Generator,
    say: Say,
) -> list[Figure]:
    figures: list[Figure] = []
    alone: list[float] = []
    for subject, runs, goal in zip(subjects, size.runs, GOALS, strict=True):
        say(f"recall: {subject.count} episodes alone")
        ours, bare = compared(subject, plain, runs)
        alone.append(ours / bare)
        figures += _figures(f"recall, {subject.count} episodes", ours, bare, goal)
    figures += _scope_figures(subjects[0], size.runs[0])
    figures += _beside(study, subjects, plain, alone, size, random, say)
    return figures


def _beside(
    study: Study,
    subjects: Sequence[Subject],
    plain: PlainCopy,
    alone: Sequence[float],
    size: Size,
    random: Generator,
    say: Say,
) -> list[Figure]:
    """The same rows with others' beside them. The bare query, whose table holds nobody else's
    rows before and after, is the ruler: what the machine does meanwhile cancels out."""
    others = crowd.fill(study, subjects[0].participant, size.others, say)
    plain.settle_down()
    figures = []
    for subject, runs, before in zip(subjects, size.runs, alone, strict=True):
        say(f"recall: {subject.count} episodes beside {size.others} of others")
        ours, bare = compared(subject, plain, runs)
        name = f"recall, {subject.count} episodes beside {size.others} of others ÷ alone"
        figures.append(ratio(name, ours / bare, before, goal=BESIDE_GOAL))
    scattered = _asking(others[len(others) // 2], subjects[0].count, subjects[0].queries)
    ours, bare = compared(scattered, plain, size.runs[0], ruler=subjects[0])
    name = f"recall, {subjects[0].count} episodes stored among others' session by session ÷ alone"
    return [*figures, ratio(name, ours / bare, alone[0])]


def _figures(name: str, ours: float, bare: float, goal: float) -> list[Figure]:
    return [
        Figure(name=f"{name}, L4", value=ours * 1000, unit="ms"),
        Figure(name=f"{name}, bare pgvector", value=bare * 1000, unit="ms"),
        ratio(f"{name}, L4 ÷ bare", ours, bare, goal=goal),
    ]


def _scope_figures(subject: Subject, runs: int) -> list[Figure]:
    """What entering a lab costs: a transaction, and a setting local to it."""

    def empty() -> None:
        with lab_scope(subject.participant.lab_id):
            pass

    spent = median(timed(empty) for _ in range(runs))
    return [Figure(name="lab scope, opened and closed", value=spent * 1000, unit="ms")]


def dense(query: Query) -> object:
    """What L4 calls by default."""
    return search.recall(query, limit=TOP)


def compared(
    subject: Subject,
    plain: PlainCopy,
    runs: int,
    ruler: Subject | None = None,
    recall: Callable[[Query], object] = dense,
) -> tuple[float, float]:
    """Median seconds of L4's recall and of the bare query, asked in turn inside an open scope.

    ``ruler`` is whose rows the bare query scans; the subject's own by default.
    """
    ours: list[float] = []
    bare: list[float] = []
    whose = (ruler or subject).participant.pk
    with lab_scope(subject.participant.lab_id):
        for number in range(runs + 20):
            query = subject.queries[number % len(subject.queries)]
            ours.append(timed(partial(recall, query)))
            bare.append(timed(partial(plain.nearest, whose, query.vector)))
    return median(ours[20:]), median(bare[20:])  # the first ones fill the caches


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _subject(study: Study, count: int, random: Generator) -> Subject:
    now = wall_now()
    participant = enrol(study, 1, wall=now)[0]
    vectors = unrelated(random, count)
    ages = np.sort(random.uniform(0.0, DAYS, size=count))[::-1]
    with lab_scope(study.lab_id):
        Episode.objects.bulk_create(
            remembered(participant, vectors, ages, now=now, random=random), batch_size=500
        )
        queries = tuple(
            Query(
                participant_id=participant.pk,
                session=uuid4(),
                embedder=EMBEDDER,
                vector=cue,
                now=now,
                curve=WEEKLY,
                relevance=relevance(study),
            )
            for cue in cues(random, vectors, 50)
        )
    return Subject(participant=participant, queries=queries, count=count)


def _asking(participant: Participant, count: int, queries: Sequence[Query]) -> Subject:
    asked = tuple(replace(query, participant_id=participant.pk) for query in queries)
    return Subject(participant=participant, queries=asked, count=count)
