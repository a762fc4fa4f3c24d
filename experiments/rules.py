"""Rules of a study beside its arms and stages: entry, safety, debriefing, and which questionnaire
comes where. Frozen with the version; what an older version doesn't hold has the default here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from experiments.enums import DebriefingHold, Moment, ReminderChannel


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRules:
    """Who may take part, and what is asked of them before the first stage.

    ``minimum_age`` in years, 0 without an age gate. An empty statement means that no separate
    consent is asked for. ``strata`` (``experiments.strata``) and ``screen_out``
    (``experiments.screening``) name answers and scores.
    """

    minimum_age: int = 18
    sensitive_consent: str = ""
    abroad_consent: str = ""
    telemetry_consent: str = ""
    asks_email: bool = False
    passwords: bool = True
    excludes_earlier: bool = False
    strata: tuple[Mapping[str, Any], ...] = ()
    screen_out: tuple[Mapping[str, Any], ...] = ()
    ends_on_missed: bool = False

    @classmethod
    def from_json(cls, frozen: Mapping[str, Any]) -> Self:
        lists = {name: tuple(frozen.get(name, ())) for name in ("strata", "screen_out")}
        return cls(**{**frozen, **lists})


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyRules:
    """What happens when somebody seems to be in danger. The crisis card shows ``hotlines``."""

    contact_name: str = ""
    contact_email: str = ""
    hotlines: str = ""
    asks_model: bool = False
    pauses: bool = False

    @classmethod
    def from_json(cls, frozen: Mapping[str, Any]) -> Self:
        return cls(**frozen)


@dataclass(frozen=True, slots=True, kw_only=True)
class DebriefingRules:
    """The debriefing and when it may be read; ``after`` is an ISO 8601 moment or empty."""

    text: str = ""
    hold: DebriefingHold = DebriefingHold.NONE
    after: str = ""
    consent: str = ""

    @classmethod
    def from_json(cls, frozen: Mapping[str, Any]) -> Self:
        return cls(**{**frozen, "hold": DebriefingHold(frozen.get("hold", DebriefingHold.NONE))})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderRules:
    """How participants are reminded. Where a webhook leads, and its secret, are the living study's,
    as a provider's key is."""

    channel: ReminderChannel = ReminderChannel.EMAIL

    @classmethod
    def from_json(cls, frozen: Mapping[str, Any]) -> Self:
        return cls(channel=ReminderChannel(frozen.get("channel", ReminderChannel.EMAIL)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementConfiguration:
    """A questionnaire at its place: which version of which instrument is asked when.

    ``stage`` is the stage's key, empty where the moment belongs to none. ``position`` orders the
    questionnaires of one moment, and with moment and stage it identifies the place. An
    ``external_url`` stands instead of an instrument. ``half``: only a random half is asked.
    """

    moment: Moment
    stage: str = ""
    position: int
    instrument: str = ""
    version: int = 0
    sha256: str = ""
    external_url: str = ""
    half: bool = False

    @property
    def key(self) -> str:
        """Identity of the place within the study's version, e.g. ``after:t2:1``."""
        return f"{self.moment}:{self.stage}:{self.position}"

    @classmethod
    def from_json(cls, frozen: Mapping[str, Any]) -> Self:
        return cls(**{**frozen, "moment": Moment(frozen["moment"])})
