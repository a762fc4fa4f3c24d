"""What a participant is asked to agree to, word for word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from experiments.configuration import StudyConfiguration
from experiments.destinations import Destination
from experiments.enums import ConsentKind, Exclusion


@dataclass(frozen=True, slots=True)
class Statement:
    """A separate consent. Whoever declines a ``required`` one can't take part."""

    kind: ConsentKind
    text: str
    required: bool

    @property
    def exclusion(self) -> Exclusion:
        """Why somebody isn't in the study who declined it."""
        return Exclusion(self.kind.value)


def participation_text(
    configuration: StudyConfiguration, destinations: Iterable[Destination]
) -> str:
    """What consent to taking part covers: the information sheet with where the data go, and the
    statement."""
    goes = "\n".join(
        "\n".join((each.operator, *(f"– {what}" for what in each.what))) for each in destinations
    )
    return f"{configuration.information}\n\n{goes}\n\n{configuration.consent}"


def asked(configuration: StudyConfiguration) -> tuple[Statement, ...]:
    """The separate consents that a study asks for, in the order in which they are asked."""
    entry = configuration.entry
    every = (
        Statement(ConsentKind.SENSITIVE, entry.sensitive_consent, required=True),
        Statement(ConsentKind.ABROAD, entry.abroad_consent, required=True),
        Statement(ConsentKind.TELEMETRY, entry.telemetry_consent, required=False),
    )
    return tuple(statement for statement in every if statement.text.strip())
