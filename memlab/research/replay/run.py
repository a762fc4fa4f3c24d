"""One run: every dialogue under every architecture, in a lab that is gone afterwards."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from chat import steps
from experiments import architectures
from experiments.parameters import Value, validated
from memlab.core.clock import wall_now
from memlab.core.embeddings.base import Embedder
from memlab.core.llm.base import LanguageModel
from memlab.core.work import unit
from memlab.research.replay import laboratory
from memlab.research.replay.conversation import Lived
from memlab.research.replay.dialogue import Dialogue
from memlab.research.replay.probes import ask_all
from memlab.research.replay.progress import Progress
from memlab.research.replay.recorded import NeverAnswered, RecordedDoors
from memlab.research.replay.report import Row, row, turns_of
from memlab.research.replay.study import Choices, enrol


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to replay, how, and with which models."""

    dialogues: tuple[Dialogue, ...]
    architectures: tuple[str, ...]
    choices: Choices
    extraction: LanguageModel
    embedder: Embedder
    keep: bool = False


async def replay(plan: Plan, progress: Progress) -> list[Row]:
    """The report's rows. The lab is erased however this ends, unless it is to be kept.

    The local embedder remembers recent texts, so what several architectures of one dialogue embed
    is computed once: the dialogues are the outer loop.
    """
    room = await unit(laboratory.open_laboratory, wall=wall_now())
    try:
        async with steps.kept(room.lab_id, room.run, room.holder):
            with _quiet():
                rows = [row async for row in _rows(plan, room.lab_id, progress)]
            if plan.keep:
                await unit(laboratory.keep, room)
                progress.note(f"The lab is kept: id {room.lab_id}.")
            return rows
    finally:
        if not plan.keep:
            # Also when the run is cancelled: the erasure itself is not interrupted.
            await asyncio.shield(unit(laboratory.erase, room.lab_id))


async def _rows(plan: Plan, lab_id: int, progress: Progress) -> AsyncIterator[Row]:
    for number, dialogue in enumerate(plan.dialogues, start=1):
        for place, architecture in enumerate(plan.architectures, start=1):
            progress.begins(
                dialogue=dialogue.id,
                number=number,
                architecture=architecture,
                place=place,
                sessions=len(dialogue.sessions),
            )
            yield await _row(plan, lab_id, dialogue, architecture, progress)


async def _row(
    plan: Plan, lab_id: int, dialogue: Dialogue, architecture: str, progress: Progress
) -> Row:
    embedder = plan.embedder.id
    participant = await unit(
        enrol, lab_id, dialogue, architecture, plan.choices, embedder=embedder, wall=wall_now()
    )
    doors = RecordedDoors(extraction=plan.extraction, embedder=plan.embedder)
    lived = Lived(lab_id=lab_id, participant=participant, architecture=architecture, doors=doors)
    await lived.live(dialogue, on_session=progress.session, on_exchange=progress.turn)
    progress.probes(len(dialogue.probes))
    asked = await ask_all(
        dialogue,
        lab_id=lab_id,
        participant=participant,
        doors=doors,
        messages=lived.messages,
        wait=lived.wait,
    )
    turns = await unit(turns_of, lab_id, participant)
    return row(
        dialogue=dialogue.id,
        architecture=architecture,
        turns=turns,
        probes=asked,
        llm=f"{plan.extraction.provider}:{plan.extraction.model}",
        embedder=embedder,
        parameters=_parameters(plan.choices, architecture, dialogue),
        seconds=round(progress.ends(), 2),
    )


def _parameters(choices: Choices, architecture: str, dialogue: Dialogue) -> dict[str, Value]:
    """What the arm ran with, defaults included."""
    kind = architectures.architecture(architecture)
    return validated(kind.parameters, choices.parameters(kind, dialogue.names))


@contextmanager
def _quiet() -> Iterator[None]:
    """That a recorded message has no reply is no fault to warn of; all other warnings stay."""

    def interesting(record: logging.LogRecord) -> bool:
        told = record.args if isinstance(record.args, tuple) else ()
        return not any(isinstance(each, NeverAnswered) for each in told)

    logger = logging.getLogger("chat.generation")
    logger.addFilter(interesting)
    try:
        yield
    finally:
        logger.removeFilter(interesting)
