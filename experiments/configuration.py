"""A study's frozen configuration: what a version holds and everything at run time reads.

Live rows are for editing. A running participant reads the version of their consent only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from experiments.enums import (
    AllocationMethod,
    AllocationTime,
    DoorUse,
    Instruction,
    Moment,
    RelevanceScale,
    WithinSession,
)
from experiments.parameters import Value
from experiments.rules import (
    DebriefingRules,
    EntryRules,
    PlacementConfiguration,
    ReminderRules,
    SafetyRules,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorChoice:
    """A model by provider and name; ``key`` is the id of a ProviderKey, or None.

    ``calls_tools`` is asked of the model that talks: whether it may be offered tools. It holds for
    its fallback too.
    """

    provider: str
    model: str
    key: int | None = None
    calls_tools: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmConfiguration:
    key: str
    name: str
    label: str
    architecture: str
    parameters: dict[str, Value]
    weight: int
    within_session: WithinSession | None = None  # None: the study's shared factor


@dataclass(frozen=True, slots=True, kw_only=True)
class StageConfiguration:
    """One stage. Durations in minutes, gap and window in hours; None means without a limit.

    ``opens_at`` and ``closes_at`` are times of day in the participant's zone ("HH:MM", empty for
    none) to which the moments are put off. Reminders go out so many hours after the opening.
    ``payment`` is a decimal number in the study's currency.
    """

    number: int
    key: str
    title: str
    briefing: str
    instructions: str
    opening_line: str
    topics: tuple[str, ...]
    minimum_gap_hours: float
    window_hours: float | None
    minimum_minutes: float
    maximum_minutes: float | None
    minimum_turns: int
    maximum_turns: int | None
    idle_minutes: float
    manipulation: bool
    opens_at: str = ""
    closes_at: str = ""
    finish_hours: float = 24.0
    reminder_hours: tuple[float, ...] = ()
    payment: str = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFactors:
    """What all arms have in common unless the study varies it; see docs/architecture.md."""

    within_session: WithinSession
    within_session_turns: int
    instruction: Instruction
    provenance_in_prompt: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """Equal latency in all arms: a floor for the first token (ms) and a rate (tokens a second)."""

    enabled: bool
    first_token_ms: int
    tokens_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPoint:
    """Cosines that map to r = 0 and r = 1 for one form of comparison."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyConfiguration:
    title: str
    language: str
    time_zone: str
    persona: str
    assistant_name: str
    information: str
    consent: str
    talking: DoorChoice
    extraction: DoorChoice
    embedding: DoorChoice
    sampling: dict[str, float | int]
    context_tokens: int
    factors: SharedFactors
    pacing: Pacing
    relevance: RelevanceScale
    calibrations: dict[str, CalibrationPoint]
    allocation_time: AllocationTime
    block_multiples: tuple[int, ...]
    arms: tuple[ArmConfiguration, ...]
    stages: tuple[StageConfiguration, ...]
    entry: EntryRules = field(default_factory=EntryRules)
    safety: SafetyRules = field(default_factory=SafetyRules)
    debriefing: DebriefingRules = field(default_factory=DebriefingRules)
    reminders: ReminderRules = field(default_factory=ReminderRules)
    currency: str = ""
    placements: tuple[PlacementConfiguration, ...] = ()
    allocation_method: AllocationMethod = AllocationMethod.BLOCKS
    minimisation_probability: float = 0.8
    varied: tuple[str, ...] = ()  # parameters in which arms that share them differ on purpose
    fallback: DoorChoice | None = None  # answers where the talking model can't; None: off

    @property
    def doors(self) -> dict[DoorUse, DoorChoice]:
        """The model of each use that the study has one for, in the order of the uses."""
        chosen: dict[DoorUse, DoorChoice | None] = {use: getattr(self, use) for use in DoorUse}
        return {use: choice for use, choice in chosen.items() if choice is not None}

    def placed(self, moment: Moment, stage: str = "") -> tuple[PlacementConfiguration, ...]:
        """The questionnaires of a moment, in order."""
        return tuple(
            sorted(
                (each for each in self.placements if (each.moment, each.stage) == (moment, stage)),
                key=lambda each: each.position,
            )
        )

    def arm(self, key: str) -> ArmConfiguration:
        return next(arm for arm in self.arms if arm.key == key)

    def factors_of(self, arm: ArmConfiguration | None) -> SharedFactors:
        """The shared factors, with an arm's declared exception."""
        if arm is None or arm.within_session is None:
            return self.factors
        return replace(self.factors, within_session=arm.within_session)

    def stage(self, key: str) -> StageConfiguration:
        return next(stage for stage in self.stages if stage.key == key)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, key order fixed by the dataclasses. A fallback that is off is left out: the
        same content keeps the hash that it had before there were any."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        if self.fallback is None:
            del plain["fallback"]
        return plain

    def sha256(self) -> str:
        """Hash of the canonical JSON: the identity of a version."""
        canonical = json.dumps(
            self.as_json(), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        return hashlib.sha256(canonical.encode()).hexdigest()

    @classmethod
    def from_json(cls, frozen: Mapping[str, Any]) -> StudyConfiguration:
        factors, fields = frozen["factors"], dict(frozen)
        fields |= {use: DoorChoice(**frozen[use]) for use in map(str, DoorUse) if frozen.get(use)}
        fields["factors"] = SharedFactors(
            within_session=WithinSession(factors["within_session"]),
            within_session_turns=factors["within_session_turns"],
            instruction=Instruction(factors["instruction"]),
            provenance_in_prompt=factors["provenance_in_prompt"],
        )
        fields["pacing"] = Pacing(**frozen["pacing"])
        fields["relevance"] = RelevanceScale(frozen["relevance"])
        fields["allocation_time"] = AllocationTime(frozen["allocation_time"])
        fields["allocation_method"] = AllocationMethod(
            frozen.get("allocation_method", AllocationMethod.BLOCKS)
        )
        fields["block_multiples"] = tuple(frozen["block_multiples"])
        fields["calibrations"] = {
            form: CalibrationPoint(**point) for form, point in frozen["calibrations"].items()
        }
        fields["arms"] = tuple(_arm(arm) for arm in frozen["arms"])
        fields["stages"] = tuple(_stage(stage) for stage in frozen["stages"])
        fields["entry"] = EntryRules.from_json(frozen.get("entry", {}))
        fields["safety"] = SafetyRules.from_json(frozen.get("safety", {}))
        fields["debriefing"] = DebriefingRules.from_json(frozen.get("debriefing", {}))
        fields["reminders"] = ReminderRules.from_json(frozen.get("reminders", {}))
        fields["placements"] = tuple(
            PlacementConfiguration.from_json(each) for each in frozen.get("placements", ())
        )
        fields["varied"] = tuple(frozen.get("varied", ()))
        return cls(**fields)


def _arm(frozen: Mapping[str, Any]) -> ArmConfiguration:
    exception = frozen.get("within_session")
    return ArmConfiguration(
        **{**frozen, "within_session": None if exception is None else WithinSession(exception)}
    )


def _stage(frozen: Mapping[str, Any]) -> StageConfiguration:
    lists = {
        "topics": tuple(frozen["topics"]),
        "reminder_hours": tuple(frozen.get("reminder_hours", ())),
    }
    return StageConfiguration(**{**frozen, **lists})
