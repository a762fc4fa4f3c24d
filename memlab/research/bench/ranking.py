"""What the ranking ``hybrid`` costs a turn, against dense recall and a bare query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
from numpy.random import Generator

from experiments.models import Study
from memlab.core.clock import wall_now
from memlab.core.embeddings.local import ID as EMBEDDER
from memlab.core.tenancy import lab_scope
from memlab.research.bench.bare import TOP, plain_copy
from memlab.research.bench.laboratory import WEEKLY, enrol, make_study, relevance, remembered
from memlab.research.bench.recall import Subject, compared
from memlab.research.bench.report import Figure, ratio
from memlab.research.bench.vectors import cues, unrelated
from memory import hybrid_search
from memory.hybrid_search import Fusion
from memory.models import Episode
from memory.search import Query

#: None of them forgotten yet, for what is forgotten isn't ranked.
DAYS = 14.0
#: A person's vocabulary, and how unevenly they use it (Zipf).
VOCABULARY, UNEVENNESS = 20_000, 1.2
GOAL = 50.0  # ms
FUSION = Fusion()


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many episodes are ranked, how many sessions they are of, and how often it is asked."""

    episodes: int = 2_000
    sessions: int = 40
    runs: int = 400


QUICK = Size(runs=100)


def measure(size: Size, say: Callable[[str], None]) -> list[Figure]:
    """Every figure of ranking, on the default connection's database."""
    random = np.random.default_rng(7)
    study = make_study("bench of ranking")
    subject = _subject(study, size, random)
    with plain_copy(Episode, study.lab_id, order="encoded_at") as plain:
        say(f"ranking: {size.episodes} episodes")
        hybrid, bare = compared(subject, plain, size.runs, recall=_hybrid)
        dense, _bare = compared(subject, plain, size.runs)
    name = f"ranking, {size.episodes} episodes"
    return [
        Figure(name=f"{name}, hybrid", value=hybrid * 1000, unit="ms", goal=GOAL),
        Figure(name=f"{name}, dense on the same rows", value=dense * 1000, unit="ms"),
        Figure(name=f"{name}, bare pgvector", value=bare * 1000, unit="ms"),
        ratio(f"{name}, hybrid ÷ bare", hybrid, bare),
    ]


def _hybrid(query: Query) -> object:
    return hybrid_search.recall(query, FUSION, limit=TOP)


def _subject(study: Study, size: Size, random: Generator) -> Subject:
    now = wall_now()
    participant = enrol(study, 1, wall=now)[0]
    vectors = unrelated(random, size.episodes)
    ages = np.sort(random.uniform(0.0, DAYS, size=size.episodes))[::-1]
    episodes = remembered(participant, vectors, ages, now=now, random=random)
    sessions = [uuid4() for _ in range(size.sessions)]
    before = ""
    for number, episode in enumerate(episodes):
        episode.session_id = sessions[number * size.sessions // size.episodes]
        episode.second_vector = unrelated(random, 1)[0]
        episode.words, episode.words_before = " ".join(_words(random)), before
        before = episode.words
    with lab_scope(study.lab_id):
        Episode.objects.bulk_create(episodes, batch_size=500)
        queries = tuple(
            Query(
                participant_id=participant.pk,
                session=uuid4(),
                embedder=EMBEDDER,
                vector=cue,
                now=now,
                curve=WEEKLY,
                relevance=relevance(study),
                words=tuple(_words(random)),
            )
            for cue in cues(random, vectors, 50)
        )
    return Subject(participant=participant, queries=queries, count=size.episodes)


def _words(random: Generator) -> list[str]:
    """The content words of a message of some 10 to 60 words."""
    ranks = random.zipf(UNEVENNESS, size=int(random.integers(5, 31)))
    return [f"word{rank % VOCABULARY}" for rank in ranks]
