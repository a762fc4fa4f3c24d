"""How the state of an arm moves: its parameters as one value, applied to the formulas. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from memory.formulas import homeostasis, regulation
from memory.formulas.regulation import Appraisal, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What a reply took: its tokens, and how many tools were called."""

    tokens: int
    tool_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dynamics:
    """How the state of one arm moves; an arm's parameters of the same names.

    Half-lives and time constants in hours; the rest as in ``memory.formulas.regulation`` and
    ``memory.formulas.homeostasis``.
    """

    h_social_start: float = 0.5
    h_energy_start: float = 1.0
    da_baseline: float = 0.5
    ne_baseline: float = 0.3
    ht_baseline: float = 0.6
    da_half_life: float = 2.0
    ne_half_life: float = 0.5
    ht_half_life: float = 12.0
    social_time_constant: float = 24.0
    energy_time_constant: float = 8.0
    da_gain: float = 0.15
    ne_gain: float = 0.2
    offence_threshold: float = 0.3
    offence_scale: float = 0.3
    boundary_cost: float = 0.1
    social_gain: float = 0.15
    complexity_cost: float = 0.02
    complexity_tokens: float = 800.0
    thousand_tokens_cost: float = 0.03
    tool_call_cost: float = 0.01
    stimulus_limit: float = 0.3
    noise_sigma: float = 0.0
    alpha_reward: float = 0.1
    alpha_threat: float = 0.2
    match_breadth: float = 0.2
    slow_limit: float = 0.02
    extinction_runs: int = 3
    extinction_rate: float = 0.1

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Dynamics:
        """The dynamics that an arm's complete parameters describe."""
        return cls(**{field.name: parameters[field.name] for field in fields(cls)})

    @property
    def start(self) -> State:
        """Where the state begins: company and energy as given, the rest at its baselines."""
        return State(
            self.h_social_start,
            self.h_energy_start,
            self.da_baseline,
            self.ne_baseline,
            self.ht_baseline,
        )

    def baselines(self, mu_reward: float, mu_threat: float) -> State:
        return regulation.shifted_baselines(
            mu_reward=mu_reward,
            mu_threat=mu_threat,
            baselines=State(0.0, 1.0, self.da_baseline, self.ne_baseline, self.ht_baseline),
        )

    @property
    def half_lives(self) -> State:
        return State(
            self.social_time_constant * math.log(2.0),
            self.energy_time_constant * math.log(2.0),
            self.da_half_life,
            self.ne_half_life,
            self.ht_half_life,
        )

    def change(self, *, appraisal: Appraisal, before: State, effort: Effort, seed: str) -> State:
        """What a turn does to the state; ``seed`` names participant and turn, for the noise."""
        moved = regulation.stimuli(
            appraisal=appraisal,
            h_social=before.h_social,
            tokens=effort.tokens,
            tool_calls=effort.tool_calls,
            da_gain=self.da_gain,
            ne_gain=self.ne_gain,
            offence_threshold=self.offence_threshold,
            offence_scale=self.offence_scale,
            boundary_cost=self.boundary_cost,
            social_gain=self.social_gain,
            complexity_cost=self.complexity_cost,
            complexity_tokens=self.complexity_tokens,
            thousand_tokens_cost=self.thousand_tokens_cost,
            tool_call_cost=self.tool_call_cost,
            limit=self.stimulus_limit,
        )
        return regulation.with_noise(
            change=moved, seed=seed, sigma=self.noise_sigma, limit=self.stimulus_limit
        )

    def match(self, a: State, b: State) -> float:
        return homeostasis.state_match(a=a, b=b, breadth=self.match_breadth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """The prediction errors of one turn, each in [−1, 1]."""

    reward: float
    threat: float

    @property
    def rpe(self) -> float:
        """The one of the larger magnitude, with its sign; of equals the threat's."""
        return self.reward if abs(self.reward) > abs(self.threat) else self.threat

    @property
    def magnitude(self) -> float:
        """|RPE| of the turn."""
        return abs(self.rpe)


#: Of a state or an importance that is compared or multiplied in Postgres, which raises on products
#: that underflow; far more than either means.
DIGITS = 12


def digits(state: State) -> State:
    """A state as it is stored with a memory and compared with others."""
    return State(*(round(value, DIGITS) for value in state))


def hours_between(since: datetime, now: datetime) -> float:
    """Study time between two moments, never negative."""
    return max(0.0, (now - since).total_seconds() / 3600.0)


def surprise_of(
    appraisal: Appraisal, expected_reward: float = 0.0, expected_threat: float = 0.0
) -> Surprise:
    """The prediction errors of a turn in both channels."""
    return Surprise(
        reward=homeostasis.prediction_error(
            observed=homeostasis.observed_reward(valence=appraisal.valence),
            expected=expected_reward,
        ),
        threat=homeostasis.prediction_error(
            observed=homeostasis.observed_threat(
                offensiveness=appraisal.offensiveness, valence=appraisal.valence
            ),
            expected=expected_threat,
        ),
    )
