"""What a memory of items brings to a turn, end to end, against a bare query on the same rows."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from statistics import median
from types import MappingProxyType
from uuid import uuid4

import numpy as np
from numpy.random import Generator

from chat.memories import architecture_of
from experiments.doors import StudyDoors
from experiments.models import Participant, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.values import Role, SessionTranscript, Transcript, Utterance
from memlab.core.work import unit
from memlab.research.bench.bare import PlainCopy, plain_copy
from memlab.research.bench.doors import InstantEmbedder, SteadyModel
from memlab.research.bench.items import Rows, about, binned, retained, store
from memlab.research.bench.laboratory import enrol, make_study, relevance, sentence
from memlab.research.bench.recall import timed
from memlab.research.bench.report import Figure, ratio
from memlab.research.bench.scratch import pooled
from memlab.research.bench.vectors import Vectors, cues, unrelated
from memory.architectures.base import Architecture
from memory.models import BinnedItem, RetainedItem
from memory.models.base import Memory

WARMING_UP = 10
Maker = Callable[[Participant, Vectors, datetime, Generator], Rows]
#: Architecture → the kind of its rows, and what makes them.
KINDS: Mapping[str, tuple[type[Memory], Maker]] = MappingProxyType(
    {"homeostatic": (BinnedItem, binned), "retention": (RetainedItem, retained)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many items the participant has, and how often the memory is asked."""

    items: int = 2_000
    runs: int = 200


QUICK = Size(runs=50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A message with its embedding."""

    text: str
    vector: Vectors


def measure(kind: str, size: Size, say: Callable[[str], None]) -> list[Figure]:
    """Every figure of one architecture's prompts, on the default connection's database."""
    random = np.random.default_rng(13)
    study = make_study(f"bench of {kind} prompts", further=(kind,))
    now = wall_now()
    person = enrol(study, 1, wall=now, arm=kind)[0]
    model, made = KINDS[kind]
    with lab_scope(study.lab_id):
        strangers = _apart(relevance(study).low)
        vectors = unrelated(random, size.items, cosine=strangers)
        store(made(person, vectors, now, random))
        memory = architecture(study, person, kind)
    asked = [
        Asked(text=" ".join([sentence(random), *about(random, 3)]), vector=vector)
        for vector in cues(random, vectors, 50, cosine=strangers)
    ]
    say(f"{kind}: a prompt from {size.items} items")
    with plain_copy(model, study.lab_id) as plain, pooled():
        ours, bare = asyncio.run(_compared(memory, plain, asked, now, size.runs))
    name = f"prompt, {kind}, {size.items} items"
    return [
        Figure(name=name, value=ours * 1000, unit="ms"),
        Figure(name=f"{name}, bare pgvector", value=bare * 1000, unit="ms"),
        ratio(f"{name} ÷ bare", ours, bare),
    ]


def _apart(low: float) -> float:
    """The cosine c of unrelated rows at which a cue, nearer to all of them than they are to each
    other, has the cosine ``low`` to those it isn't made from: c·√(2/(1 + c)) = low. So a message
    calls up what it resembles, and nothing else."""
    square = low**2
    return (square + math.sqrt(square**2 + 8 * square)) / 4


def architecture(study: Study, person: Participant, arm: str) -> Architecture:
    """A participant's memory as a reply has it, with doors that cost nothing. In a scope."""
    configuration = study.version().configuration
    return architecture_of(
        arm=configuration.arm(arm),
        configuration=configuration,
        lab_id=study.lab_id,
        participant_id=person.pk,
        participant=person.public_id,
        doors=StudyDoors(
            talking=SteadyModel(), extraction=SteadyModel(), embedder=InstantEmbedder()
        ),
    )


async def _compared(
    memory: Architecture, plain: PlainCopy, asked: Sequence[Asked], now: datetime, runs: int
) -> tuple[float, float]:
    """Median seconds of a recall, threads and scopes included, and of the bare query alone."""
    ours: list[float] = []
    bare: list[float] = []
    for number in range(runs + WARMING_UP):
        each = asked[number % len(asked)]
        transcript = _transcript(each.text, now)
        started = time.perf_counter()
        await memory.recall(transcript, each.text, each.vector, now)
        ours.append(time.perf_counter() - started)
        bare.append(await unit(_bare, memory, plain, each))
    return median(ours[WARMING_UP:]), median(bare[WARMING_UP:])


def _bare(memory: Architecture, plain: PlainCopy, each: Asked) -> float:
    with lab_scope(memory.lab_id):
        return timed(partial(plain.nearest, memory.participant_id, each.vector))


def _transcript(text: str, now: datetime) -> Transcript:
    """The first message of a conversation."""
    current = SessionTranscript(id=uuid4(), number=2, stage="t2", started_at=now)
    question = Utterance(id=uuid4(), role=Role.PARTICIPANT, text=text, at=now)
    return Transcript(earlier=(), current=current, question=question)
