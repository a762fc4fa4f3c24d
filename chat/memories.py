"""Making the architecture of a participant's arm."""

from __future__ import annotations

from uuid import UUID

from experiments import architectures
from experiments.configuration import ArmConfiguration, StudyConfiguration
from experiments.doors import StudyDoors
from memory.architectures.base import Architecture, Doors, MemorySetting


def kind_of(arm: ArmConfiguration) -> type[Architecture]:
    """The class of an arm's memory, which says what phases it has."""
    kind = architectures.architecture(arm.architecture)
    assert isinstance(kind, type)
    assert issubclass(kind, Architecture)
    return kind


def architecture_of(
    *,
    arm: ArmConfiguration,
    configuration: StudyConfiguration,
    lab_id: int,
    participant_id: int,
    participant: UUID,
    doors: StudyDoors,
) -> Architecture:
    """The memory of one participant, with the arm's frozen parameters and the study's doors."""
    return kind_of(arm)(
        lab_id=lab_id,
        participant_id=participant_id,
        participant=participant,
        parameters=arm.parameters,
        setting=MemorySetting(
            language=configuration.language,
            relevance=configuration.relevance,
            calibrations=configuration.calibrations,
            provenance_in_prompt=configuration.factors.provenance_in_prompt,
            context_tokens=configuration.context_tokens,
            time_zone=configuration.time_zone,
        ),
        doors=Doors(
            extraction=doors.extraction,
            embedder=doors.embedder,
            calls_tools=doors.talking.calls_tools,
        ),
    )
