"""The state of a regulated memory: five variables, what moves them, and what shows of them.

==========  =========================================  ===========  ====================
variable    reads as                                   drifts to    half-life, in hours
==========  =========================================  ===========  ====================
h_social    how much company there has been lately     0            24·ln 2
h_energy    energy to think                            1            8·ln 2
da          drive, after dopamine                      0.5 + μ      2
ne          alertness, after noradrenaline             0.3 + μ      0.5
ht          calm, after serotonin                      0.6          12
==========  =========================================  ===========  ====================

All lie in [0, 1]. The names are the protocol's metaphor; the numbers are ours, see
``memory.formulas.homeostasis``. Pure, keywords only, ValueError for values out of range.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from memory.formulas.bounds import not_negative, positive, within
from memory.formulas.homeostasis import returned


class State(NamedTuple):
    """The five variables, each in [0, 1]; or, as a change of them, five differences."""

    h_social: float = 0.5
    h_energy: float = 1.0
    da: float = 0.5
    ne: float = 0.3
    ht: float = 0.6


#: Towards what, and how fast, the variables drift; hours.
BASELINES = State(0.0, 1.0, 0.5, 0.3, 0.6)
HALF_LIVES = State(24.0 * math.log(2.0), 8.0 * math.log(2.0), 2.0, 0.5, 12.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appraisal:
    """How a turn was taken: valence v in [−1, 1], offensiveness o in [0, 1], and whether the
    participant set a boundary."""

    valence: float = 0.0
    offensiveness: float = 0.0
    boundary: bool = False

    def __post_init__(self) -> None:
        within("valence", self.valence, -1.0, 1.0)
        within("offensiveness", self.offensiveness, 0.0, 1.0)


def drifted(
    *, state: State, hours: float, baselines: State = BASELINES, half_lives: State = HALF_LIVES
) -> State:
    """The state ``hours`` later, if nothing happens. Exact: see ``returned``."""
    return State(
        *(
            # Rounding may leave the range by the last digit.
            _bounded(returned(value=value, baseline=baseline, half_life=half_life, hours=hours))
            for value, baseline, half_life in zip(state, baselines, half_lives, strict=True)
        )
    )


def shifted_baselines(*, mu_reward: float, mu_threat: float, baselines: State = BASELINES) -> State:
    """What the slow variables make of the baselines: da + μ_reward and ne + μ_threat, clipped."""
    return baselines._replace(
        da=_bounded(baselines.da + mu_reward), ne=_bounded(baselines.ne + mu_threat)
    )


def complexity(*, tokens: int, full: float = 800.0) -> float:
    """min(1, tokens/full), in [0, 1]: how much thought a reply of ``tokens`` took."""
    not_negative("tokens", tokens)
    return min(1.0, tokens / positive("full", full))


def stimuli(
    *,
    appraisal: Appraisal,
    h_social: float,
    tokens: int,
    tool_calls: int = 0,
    da_gain: float = 0.15,
    ne_gain: float = 0.2,
    offence_threshold: float = 0.3,
    offence_scale: float = 0.3,
    boundary_cost: float = 0.1,
    social_gain: float = 0.15,
    complexity_cost: float = 0.02,
    complexity_tokens: float = 800.0,
    thousand_tokens_cost: float = 0.03,
    tool_call_cost: float = 0.01,
    limit: float = 0.3,
) -> State:
    """What a turn does to the state, each difference within ±``limit``.

    da + 0.15·v; ne + 0.2·max(0, tanh((o − 0.3)/0.3)); ht − 0.1 at a boundary; h_social +
    0.15·q·(1 − h_social), q = (v + 1)/2; h_energy − 0.02·complexity − 0.03 per 1,000 tokens of the
    reply − 0.01 per tool call.
    """
    within("h_social", h_social, 0.0, 1.0)
    not_negative("tool_calls", tool_calls)
    offence = math.tanh(
        (appraisal.offensiveness - offence_threshold) / positive("offence_scale", offence_scale)
    )
    quality = (appraisal.valence + 1.0) / 2.0
    effort = (
        complexity_cost * complexity(tokens=tokens, full=complexity_tokens)
        + thousand_tokens_cost * tokens / 1000.0
        + tool_call_cost * tool_calls
    )
    return _each_within(
        State(
            h_social=social_gain * quality * (1.0 - h_social),
            h_energy=-effort,
            da=da_gain * appraisal.valence,
            ne=ne_gain * max(0.0, offence),
            ht=-boundary_cost if appraisal.boundary else 0.0,
        ),
        limit,
    )


def stimulated(*, state: State, change: State) -> State:
    """The state after a change, clamped to [0, 1]."""
    return State(*(_bounded(value + by) for value, by in zip(state, change, strict=True)))


def with_noise(*, change: State, seed: str, sigma: float = 0.0, limit: float = 0.3) -> State:
    """A change with Gaussian noise on each variable; the same for the same ``seed``."""
    if not_negative("sigma", sigma) == 0.0:
        return change
    drawn = random.Random(hashlib.sha256(seed.encode()).digest())
    return _each_within(State(*(by + drawn.gauss(0.0, sigma) for by in change)), limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """Eight inclinations, each in [0, 1]; linear in the state."""

    initiative: float
    warmth: float
    patience: float
    verbosity: float
    directness: float
    defensiveness: float
    curiosity: float
    boundary_strength: float


#: Of each inclination: what it is at a state of zeros, and its slope in each variable.
INCLINATIONS: Mapping[str, tuple[float, State]] = {
    "initiative": (0.2, State(-0.2, 0.3, 0.4, 0.0, 0.0)),
    "warmth": (0.2, State(0.1, 0.0, 0.3, -0.3, 0.3)),
    "patience": (0.2, State(0.0, 0.2, 0.0, -0.4, 0.5)),
    "verbosity": (0.1, State(0.0, 0.4, 0.3, -0.2, 0.0)),
    "directness": (0.3, State(0.0, 0.2, 0.0, 0.4, -0.2)),
    "defensiveness": (0.1, State(0.0, 0.0, 0.0, 0.8, -0.2)),
    "curiosity": (0.1, State(0.0, 0.3, 0.5, -0.2, 0.0)),
    "boundary_strength": (0.3, State(0.0, 0.0, 0.0, 0.5, -0.2)),
}


def behaviour(
    *, state: State, inclinations: Mapping[str, tuple[float, State]] = INCLINATIONS
) -> Behaviour:
    """intercept + Σ slope·variable, clamped to [0, 1], for each of the eight."""
    return Behaviour(
        **{
            name: _bounded(
                math.fsum([origin, *(a * b for a, b in zip(slopes, state, strict=True))])
            )
            for name, (origin, slopes) in inclinations.items()
        }
    )


def _bounded(value: float) -> float:
    return min(1.0, max(0.0, value))


def _each_within(change: State, limit: float) -> State:
    not_negative("limit", limit)
    return State(*(min(limit, max(-limit, by)) for by in change))
