"""Asking a study's models for real, once each, before people depend on them.

The calls are made between two units of database work, never inside one. If the process dies in
between, nothing is written and the checklist still says that nobody asked.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from experiments.configuration import DoorChoice, StudyConfiguration
from experiments.doors import DoorKeeper, OpenDoors, StudyDoors
from experiments.enums import DoorUse
from experiments.models import DoorProbe, Study
from memlab.core.clock import wall_now
from memlab.core.embeddings.base import EmbeddingFailure, Form
from memlab.core.llm.base import ChatMessage, LanguageModel, ModelFailure, Sampling, Speaker
from memlab.core.llm.configuration import ProviderConfigurationError
from memlab.core.tenancy import lab_scope
from memlab.core.values import Prompt, PromptTask
from memlab.core.work import unit
from memlab.research.launch.checks.models import AT_HAND

GREETING = {"en": "Say hello in one word.", "zh-hans": "请用一个词问好。"}
#: Of a failure's words, so that they fit their column.
LONGEST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back from one model; ``failure`` is empty where it answered."""

    use: DoorUse
    choice: DoorChoice
    model: str
    failure: str
    milliseconds: float


def load(lab_id: int, study_id: int) -> StudyConfiguration:
    """The draft's configuration. Raises ValidationError, which the checklist says too."""
    with lab_scope(lab_id):
        return Study.objects.get(lab_id=lab_id, pk=study_id).configuration()


async def ask(
    lab_id: int, configuration: StudyConfiguration, keeper: OpenDoors | None = None
) -> list[Answer]:
    """Ask each model that needs a network; one that can't even be opened has failed as well."""
    wanted = [use for use, choice in configuration.doors.items() if choice.provider not in AT_HAND]
    if not wanted:
        return []
    own = DoorKeeper() if keeper is None else None
    doors = own or keeper
    assert doors is not None
    try:
        opened = await doors.doors(lab_id, configuration)
        return [await _asked(use, configuration, opened) for use in wanted]
    except ProviderConfigurationError as error:
        return [
            Answer(
                use=use,
                choice=configuration.doors[use],
                model="",
                failure=str(error)[:LONGEST],
                milliseconds=0.0,
            )
            for use in wanted
        ]
    finally:
        if own is not None:
            await own.aclose()


async def _asked(use: DoorUse, configuration: StudyConfiguration, doors: StudyDoors) -> Answer:
    calls: dict[DoorUse, Callable[[], Awaitable[str]]] = {
        DoorUse.TALKING: lambda: _greeted(doors.talking, configuration),
        DoorUse.FALLBACK: lambda: _greeted(doors.fallback, configuration),
        DoorUse.EXTRACTION: lambda: _greeted(doors.extraction, configuration),
        DoorUse.EMBEDDING: lambda: _embedded(doors, configuration),
    }
    began, model, failure = time.monotonic(), "", ""
    try:
        model = await calls[use]()
    except (ModelFailure, EmbeddingFailure) as error:
        failure = str(error)[:LONGEST]
    return Answer(
        use=use,
        choice=configuration.doors[use],
        model=model,
        failure=failure,
        milliseconds=1000 * (time.monotonic() - began),
    )


async def _greeted(model: LanguageModel | None, configuration: StudyConfiguration) -> str:
    """The id of the model that answered, as the provider returned it."""
    assert model is not None  # only uses that the study has a model for are asked
    prompt = Prompt(
        task=PromptTask.REPLY,
        language=configuration.language,
        system="",
        messages=(ChatMessage(Speaker.USER, GREETING[configuration.language]),),
    )
    return (await model.complete(prompt, sampling=Sampling(max_tokens=16))).model


async def _embedded(doors: StudyDoors, configuration: StudyConfiguration) -> str:
    await doors.embedder.embed([GREETING[configuration.language]], Form.QUERY)
    return doors.embedder.id


def keep(lab_id: int, study_id: int, answers: list[Answer], *, user_id: int | None) -> None:
    """One row an answer; the newest of a model is the one that counts."""
    with lab_scope(lab_id):
        DoorProbe.objects.bulk_create(
            DoorProbe(
                study_id=study_id,
                use=answer.use,
                provider=answer.choice.provider,
                model=answer.choice.model,
                key_id=answer.choice.key,
                answered=not answer.failure,
                answered_model=answer.model[:200],
                failure=answer.failure,
                milliseconds=answer.milliseconds,
                at=wall_now(),
                user_id=user_id,
            )
            for answer in answers
        )


async def probe(
    lab_id: int, study_id: int, *, user_id: int | None, keeper: OpenDoors | None = None
) -> list[Answer]:
    """Load, ask, keep."""
    configuration = await unit(load, lab_id, study_id)
    answers = await ask(lab_id, configuration, keeper)
    await unit(keep, lab_id, study_id, answers, user_id=user_id)
    return answers


def asked_since(study: Study, moment: datetime) -> bool:
    """Whether answers have come in since ``moment`` (wall time)."""
    return bool(DoorProbe.objects.filter(study=study, at__gte=moment).exists())
