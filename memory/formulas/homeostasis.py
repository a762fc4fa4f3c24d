"""A memory that is regulated like a body: surprise, importance, slow change, and retrieval.

The protocol that this follows leaves every constant as a symbol. The numbers that stand here as
defaults are ours: none of them is measured, and all are parameters of an arm.

=====  ==========================================================================
rpe    reward or threat prediction error: observed − expected, in [−1, 1]
μ      slow variable of a channel: how far its baseline has moved, from 0
r      relevance of a memory to the present query, in [0, 1]
=====  ==========================================================================

Every function is pure, takes keywords only, and raises ValueError for values out of range. The
state itself is in ``memory.formulas.regulation``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memory.formulas.bounds import not_negative, positive, within

#: h_social, h_energy, da, ne, ht.
STATE_VARIABLES = 5


def returned(*, value: float, baseline: float, half_life: float, hours: float) -> float:
    """μ + (X − μ)·2^(−Δt/half-life): X on its way back to its baseline μ after ``hours``.

    Exact, so that it doesn't matter how often time is ticked. ``half_life`` in hours, above 0.
    """
    positive("half_life", half_life)
    not_negative("hours", hours)
    return _finite("baseline", baseline) + (_finite("value", value) - baseline) * math.exp2(
        -hours / half_life
    )


def prediction_error(*, observed: float, expected: float) -> float:
    """rpe = observed − expected; both in [0, 1] in a turn. Rescorla & Wagner (1972)."""
    return _finite("observed", observed) - _finite("expected", expected)


def expectation(*, expected: float, error: float, alpha: float) -> float:
    """expected + alpha·rpe: what is expected next. Rescorla & Wagner (1972).

    ``alpha`` in [0, 1] is the learning rate; ours are 0.1 for reward and 0.2 for threat. What was
    in [0, 1] stays there, for the error is measured against what was expected.
    """
    within("alpha", alpha, 0.0, 1.0)
    return _finite("expected", expected) + alpha * _finite("error", error)


def observed_reward(*, valence: float) -> float:
    """max(v, 0), in [0, 1]: what of a turn was pleasant; ``valence`` in [−1, 1]."""
    return max(within("valence", valence, -1.0, 1.0), 0.0)


def observed_threat(*, offensiveness: float, valence: float) -> float:
    """max(o, −v, 0), in [0, 1]: what of a turn was an attack or unpleasant."""
    within("offensiveness", offensiveness, 0.0, 1.0)
    within("valence", valence, -1.0, 1.0)
    return max(offensiveness, -valence, 0.0)


def state_match(*, a: Sequence[float], b: Sequence[float], breadth: float = 0.2) -> float:
    """exp(−d²/(2·breadth²)), in [0, 1]; d is the root mean square difference of two states.

    ``a`` and ``b`` hold the five variables in the same order. State-dependent memory: what was
    encoded in a like state comes back more easily (Bower 1981).
    """
    if len(a) != STATE_VARIABLES or len(b) != STATE_VARIABLES:
        raise ValueError(f"a state has {STATE_VARIABLES} variables, not {len(a)} and {len(b)}.")
    positive("breadth", breadth)
    pairs = zip(a, b, strict=True)
    square = math.fsum((_finite("a", x) - _finite("b", y)) ** 2 for x, y in pairs)
    square /= STATE_VARIABLES
    return math.exp(-square / (2.0 * breadth**2))


def recency(*, age_hours: float, time_constant: float = 24.0) -> float:
    """e^(−age/time constant), in (0, 1]; both in hours."""
    not_negative("age_hours", age_hours)
    positive("time_constant", time_constant)
    return math.exp(-age_hours / time_constant)


def importance(
    *,
    error: float,
    match: float,
    recency: float,
    weights: tuple[float, float, float] = (0.5, 0.2, 0.3),
) -> float:
    """clip(w₁·|rpe| + w₂·state match + w₃·recency), in [0, 1].

    ``match`` compares the state of the moment with that at its consolidation.
    """
    _finite("error", error)
    within("match", match, 0.0, 1.0)
    within("recency", recency, 0.0, 1.0)
    surprise, likeness, freshness = (not_negative("each weight", weight) for weight in weights)
    return min(1.0, surprise * abs(error) + likeness * match + freshness * recency)


def slow_step(*, value: float, target: float, limit: float = 0.02) -> float:
    """``value`` moved towards ``target``, by ``limit`` at most: one extreme event moves little."""
    not_negative("limit", limit)
    return _finite("value", value) + _clipped(_finite("target", target) - value, limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """A slow variable: μ, and how many runs in a row have spoken against it."""

    mu: float = 0.0
    opposed: int = 0


def shifted(
    *, slow: Slow, target: float, limit: float = 0.02, patience: int = 3, extinction: float = 0.1
) -> Slow:
    """The slow variable after one run of sleep whose mean prediction error is ``target``.

    μ steps towards ``target``. A run speaks against μ if its mean has the other sign; from the
    ``patience``-th such run in a row, μ also shrinks by the share ``extinction`` of itself. The
    whole step is never more than ``limit``: while μ is still more than that away from the evidence,
    the step alone uses up the limit, so extinction tells on the last stretch only.
    """
    not_negative("limit", limit)
    within("extinction", extinction, 0.0, 1.0)
    opposed = slow.opposed + 1 if slow.mu * target < 0 else 0
    step = slow_step(value=slow.mu, target=target, limit=limit) - slow.mu
    if opposed >= patience:
        step -= extinction * slow.mu
    return Slow(mu=slow.mu + _clipped(step, limit), opposed=opposed)


def decayed(*, importance: float, age_days: float, time_constant: float) -> float:
    """importance·e^(−age/τ), in [0, 1]. τ is a time constant in days: after it 37 % is left."""
    within("importance", importance, 0.0, 1.0)
    not_negative("age_days", age_days)
    positive("time_constant", time_constant)
    return importance * math.exp(-age_days / time_constant)


def biased(*, score: float, match: float, bias: float = 0.2) -> float:
    """score·(1 + bias·state match): every bin is searched with the present state in mind."""
    not_negative("score", score)
    within("match", match, 0.0, 1.0)
    not_negative("bias", bias)
    return score * (1.0 + bias * match)


def fact_score(*, relevance: float, match: float, weight: float = 1.0, bias: float = 0.2) -> float:
    """Of a fact: r·weight, biased by the state."""
    within("relevance", relevance, 0.0, 1.0)
    return biased(score=relevance * not_negative("weight", weight), match=match, bias=bias)


def fading_score(
    *,
    importance: float,
    age_days: float,
    match: float,
    weight: float = 0.9,
    time_constant: float = 30.0,
    bias: float = 0.2,
) -> float:
    """Of a relation (0.9, 30 days) or an affect (0.7, 7 days): decayed importance, biased."""
    left = decayed(importance=importance, age_days=age_days, time_constant=time_constant)
    return biased(score=left * not_negative("weight", weight), match=match, bias=bias)


def style_score(*, match: float, weight: float = 0.5, bias: float = 0.2) -> float:
    """Of an example of style: weight·state match, biased by the same match."""
    within("match", match, 0.0, 1.0)
    return biased(score=match * not_negative("weight", weight), match=match, bias=bias)


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, not {value!r}.")
    return value


def _clipped(step: float, limit: float) -> float:
    return min(limit, max(-limit, step))
