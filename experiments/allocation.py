"""Concealed allocation: permuted blocks of random size, simple draws, or minimisation.

Pure: every draw follows from a secret seed, and minimisation from the participants before it, so it
can be audited after the study closes and nobody can read the next arm off the last ones.

- A *block* holds each arm ``weight × multiple`` times in random order; the multiple is drawn for
  every block, which hides where a block ends (Matts & Lachin 1988; ICH E9, section 2.3.2).
- A *simple* draw takes an arm with a probability in proportion to its weight, whatever came before.
- *Minimisation* (Pocock & Simon 1975, section 3) takes with a declared probability the arm that
  would leave the marginal totals of the participant's levels most even, else one of the others.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random


def permuted_block(
    number: int,
    *,
    seed: str,
    stratum: str,
    weights: Mapping[str, int],
    multiples: Sequence[int],
) -> tuple[str, ...]:
    """The arms of a stratum's block ``number`` (from 0), in the order in which they are given.

    ``weights`` maps arm keys to whole numbers ≥ 1; ``multiples`` are the whole numbers ≥ 1 that
    the block's size is drawn from. Raises ValueError otherwise.
    """
    _check(weights, multiples)
    random = _random(seed, stratum, number)
    multiple = random.choice(list(multiples))
    arms = [arm for arm in sorted(weights) for _ in range(weights[arm] * multiple)]
    random.shuffle(arms)
    return tuple(arms)


def sequence(
    *, seed: str, stratum: str, weights: Mapping[str, int], multiples: Sequence[int]
) -> Iterator[str]:
    """The endless sequence of a stratum's arms: its blocks one after the other."""
    number = 0
    while True:
        yield from permuted_block(
            number, seed=seed, stratum=stratum, weights=weights, multiples=multiples
        )
        number += 1


def simple_draw(number: int, *, seed: str, weights: Mapping[str, int]) -> str:
    """The arm of the draw ``number`` (from 0): P(arm) = weight / Σ weights, whatever came
    before."""
    _check_weights(weights)
    return _by_weight(_random(seed, "simple", number), sorted(weights), weights)


@dataclass(frozen=True, slots=True)
class Placed:
    """An earlier participant: their level of each factor, and their arm."""

    levels: Mapping[str, str]
    arm: str


@dataclass(frozen=True, slots=True)
class Minimised:
    """A draw by minimisation, and what it was drawn from.

    ``imbalance`` is G of each arm, ``preferred`` the arms with the least of it.
    """

    arm: str
    imbalance: Mapping[str, float]
    preferred: tuple[str, ...]


def minimised_draw(
    number: int,
    *,
    seed: str,
    levels: Mapping[str, str],
    earlier: Sequence[Placed],
    weights: Mapping[str, int],
    probability: float,
) -> Minimised:
    """The arm of participant ``number`` (from 0), who has these ``levels`` (factor → level).

    With x_ij the earlier participants of arm j at the participant's level of factor i,
    G_k = Σ_i range over j of (x_ij + [j = k]) / weight_j: the imbalance if arm k were taken. One of
    the arms with the least G is taken with ``probability`` p in (0, 1], else one of the others; by
    weight in either case. Without factors the arms' totals are what is kept even. Raises
    ValueError.
    """
    _check_weights(weights)
    if not 0 < probability <= 1:
        raise ValueError(f"The probability of the preferred arm is in (0, 1], not {probability}")
    imbalance = _imbalance(levels, earlier, weights)
    least = min(imbalance.values())
    preferred = [arm for arm in sorted(weights) if imbalance[arm] - least < 1e-9]
    others = [arm for arm in sorted(weights) if arm not in preferred]
    random = _random(seed, "minimisation", number)
    among = preferred if not others or random.random() < probability else others
    return Minimised(_by_weight(random, among, weights), imbalance, tuple(preferred))


def _imbalance(
    levels: Mapping[str, str], earlier: Sequence[Placed], weights: Mapping[str, int]
) -> dict[str, float]:
    margins = [
        Counter(placed.arm for placed in earlier if placed.levels.get(factor) == level)
        for factor, level in levels.items()
    ] or [Counter(placed.arm for placed in earlier)]
    return {
        arm: round(sum(_range_with(arm, margin, weights) for margin in margins), 9)
        for arm in sorted(weights)
    }


def _range_with(arm: str, margin: Counter[str], weights: Mapping[str, int]) -> float:
    totals = [(margin[each] + (each == arm)) / weight for each, weight in weights.items()]
    return max(totals) - min(totals)


def _by_weight(random: Random, arms: Sequence[str], weights: Mapping[str, int]) -> str:
    return random.choices(arms, [weights[arm] for arm in arms])[0]


def _random(seed: str, stream: str, number: int) -> Random:
    digest = hashlib.sha256(f"{seed}\x1f{stream}\x1f{number}".encode()).digest()
    # A statistical generator is enough: secrecy comes from the hashed 128-bit seed.
    return Random(int.from_bytes(digest, "big"))


def _check_weights(weights: Mapping[str, int]) -> None:
    if not weights or any(weight < 1 for weight in weights.values()):
        raise ValueError(
            f"Every arm needs a weight of at least 1, and there must be one: {weights}"
        )


def _check(weights: Mapping[str, int], multiples: Sequence[int]) -> None:
    _check_weights(weights)
    if not multiples or any(multiple < 1 for multiple in multiples):
        raise ValueError(f"Block multiples are whole numbers of at least 1, not {multiples}")
