"""What it costs a turn that its model may call tools, and that it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from numpy.random import Generator

from chat import claims, sessions, steps
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.models import Receipt
from experiments.configuration import StudyConfiguration
from experiments.doors import DoorKeeper, Keys, StudyDoors
from experiments.models import Participant, Session
from memlab.core.clock import wall_now
from memlab.core.llm import open_model
from memlab.core.llm.base import ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memlab.research.bench.doors import CallingModel, InstantEmbedder
from memlab.research.bench.laboratory import enrol, make_study, sentence
from memlab.research.bench.report import Figure
from memlab.research.bench.scratch import pooled
from memory.models import Belief

#: How often the model calls before it answers; None: it is offered no tools.
ROUNDS = (None, 0, 1, 4)
CALL = ToolCall("call", "recall_memory", '{"query": "grandmother by the river"}')
WARMING_UP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many beliefs each participant is held to have, and how many turns are measured."""

    beliefs: int = 50
    turns: int = 60


QUICK = Size(turns=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation with a model that calls so often, and who opens its doors."""

    session: SessionRef
    keeper: DoorKeeper


def measure(size: Size, say: Callable[[str], None]) -> list[Figure]:
    """Every figure of tool calls, on the default connection's database."""
    say(f"tools: {size.turns} turns each with {len(ROUNDS)} models")
    random = np.random.default_rng(17)
    study = make_study("bench of tools", further=("confidence",))
    people = enrol(study, len(ROUNDS), wall=wall_now(), arm="confidence")
    with lab_scope(study.lab_id):
        talks = {
            rounds: Talk(session=_opened(person, size, random), keeper=_keeper(rounds))
            for rounds, person in zip(ROUNDS, people, strict=True)
        }
    with pooled():
        timings = asyncio.run(_timings(talks, size.turns, random))
    without = median(each["first_token"] for each in timings[None])
    figures = [Figure(name="tools, none offered, first token", value=without, unit="ms")]
    for rounds in ROUNDS[1:]:
        name = f"tools, rounds of calls: {rounds}"
        first = median(each["first_token"] for each in timings[rounds])
        calls = median(each["tools"] for each in timings[rounds])
        figures += [
            Figure(name=f"{name}, first token", value=first, unit="ms"),
            Figure(name=f"{name}, first token later by", value=first - without, unit="ms"),
            Figure(name=f"{name}, of it in the calls", value=calls, unit="ms"),
        ]
    return figures


async def _timings(
    talks: Mapping[int | None, Talk], turns: int, random: Generator
) -> dict[int | None, list[dict[str, float]]]:
    """The receipts' timings of everybody's turns, made in turn; one says what the others say."""
    timings: dict[int | None, list[dict[str, float]]] = {rounds: [] for rounds in talks}
    for number in range(turns + WARMING_UP):
        text = sentence(random)
        for rounds, talk in talks.items():
            spent = await _turn(talk, text)
            if number >= WARMING_UP:
                timings[rounds].append(spent)
    for talk in talks.values():
        await talk.keeper.aclose()
    return timings


async def _turn(talk: Talk, text: str) -> dict[str, float]:
    reference = talk.session
    said, claim = await unit(claims.say, reference, client_id=uuid4(), text=text, wall=wall_now())
    made = await make_reply(reference.lab_id, said.reply, talk.keeper, _nobody, claim=claim)
    assert made
    # What the turn leaves to be done is done before the next one, which would wait for it.
    await steps.run_steps(reference.lab_id, reference.participant, talk.keeper)
    return await unit(_receipt, reference.lab_id, said.reply)


def _receipt(lab_id: int, reply: UUID) -> dict[str, float]:
    with lab_scope(lab_id):
        return dict(Receipt.objects.get(reply_id=reply).timings)


def _keeper(rounds: int | None) -> DoorKeeper:
    def doors(configuration: StudyConfiguration, keys: Keys) -> StudyDoors:
        return StudyDoors(
            talking=CallingModel(CALL, rounds=rounds or 0, calls_tools=rounds is not None),
            extraction=open_model("offline", "offline-1"),
            embedder=InstantEmbedder(),
        )

    return DoorKeeper(doors)


def _opened(person: Participant, size: Size, random: Generator) -> SessionRef:
    """A first conversation with memory, by somebody of whom something is believed."""
    now = wall_now()
    Belief.objects.bulk_create(_beliefs(person, size.beliefs, random))
    session = Session.objects.create(
        participant=person,
        version=person.version,
        stage_key="t2",
        number=1,
        manipulation=True,
        started_at=now,
        last_activity_at=now,
    )
    sessions.plan_closing(session)
    return SessionRef(lab_id=person.lab_id, participant=person.public_id, session=session.id)


def _beliefs(person: Participant, count: int, random: Generator) -> Sequence[Belief]:
    formed = wall_now() - timedelta(days=7)
    return [
        Belief(
            id=uuid4(),
            lab_id=person.lab_id,
            participant=person,
            stage_key="t1",
            content=sentence(random, 4, 12),
            category="preference",
            factual=False,
            message_ids=[uuid4()],
            formed_at=formed,
            position=position,
            changed_at=formed,
        )
        for position in range(count)
    ]


async def _nobody(session: UUID, *frames: dict[str, Any]) -> None:
    """No tab is open."""
