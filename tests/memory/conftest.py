"""Participants, and architectures with scripted doors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from experiments.configuration import CalibrationPoint
from experiments.enums import RelevanceScale
from experiments.models import Lab, Participant, Study
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memory.architectures.base import Architecture, Doors, MemorySetting
from tests.doors import ScriptedEmbedder, ScriptedModel, rated, traits_from

Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Await one step of an architecture from a synchronous test."""
    return asyncio.run(coroutine)


def new_participant(lab: Lab) -> Participant:
    with lab_scope(lab.pk):
        study = Study.objects.create(
            title="Study", assistant_name="Lin", persona="Kind.", information="…", consent="…"
        )
        return Participant.objects.create(study=study)


@pytest.fixture
def participant(lab: Lab) -> Participant:
    return new_participant(lab)


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder()


@pytest.fixture
def model() -> ScriptedModel:
    """Rates everything at (0.7, 0.7, 0.7), so e = 0.7, and learns nothing."""
    return ScriptedModel(
        {
            PromptTask.RATE_SALIENCE: rated(0.7, 0.7, 0.7),
            PromptTask.EXTRACT_PROFILE: traits_from({}),
        }
    )


def setting(
    *, language: str = "en", provenance: bool = False, context_tokens: int = 8000
) -> MemorySetting:
    return MemorySetting(
        language=language,
        relevance=RelevanceScale.CALIBRATED,
        calibrations={
            "query_passage": CalibrationPoint(low=0.0, high=1.0),
            "passage_passage": CalibrationPoint(low=0.0, high=1.0),
        },
        provenance_in_prompt=provenance,
        context_tokens=context_tokens,
    )


Maker = Callable[..., Any]


@pytest.fixture
def make(model: ScriptedModel, embedder: ScriptedEmbedder) -> Maker:
    """``make(Hybrid, participant, initial_g=3.0)``: an architecture with the scripted doors."""

    def made(
        kind: type[Architecture],
        participant: Participant,
        *,
        study: MemorySetting | None = None,
        **parameters: Any,
    ) -> Architecture:
        return kind(
            lab_id=participant.lab_id,
            participant_id=participant.pk,
            participant=participant.public_id,
            parameters=parameters,
            setting=study or setting(),
            doors=Doors(extraction=model, embedder=embedder),
        )

    return made
