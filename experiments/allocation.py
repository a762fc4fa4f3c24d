"""Concealed allocation by permuted blocks of random size.

Pure: the sequence of a stratum follows from a secret seed alone, so it can be audited after the
study closes and nobody can read the next arm off the last ones. A block holds each arm
``weight × multiple`` times in random order; the multiple is drawn for every block, which hides
the block's end (Matts & Lachin 1988; ICH E9, section 2.3.2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place in a stratum's sequence; ``position``, ``block`` and ``place`` count from 0."""

    arm: str
    position: int
    block: int
    place: int
    block_size: int


def slots(
    *, seed: str, stratum: str, weights: Mapping[str, int], multiples: Sequence[int]
) -> Iterator[Slot]:
    """The endless sequence of a stratum. Weights and multiples are whole numbers ≥ 1."""
    _check(weights, multiples)
    position = block = 0
    while True:
        arms = _block(seed=seed, stratum=stratum, block=block, weights=weights, multiples=multiples)
        for place, arm in enumerate(arms):
            yield Slot(arm=arm, position=position, block=block, place=place, block_size=len(arms))
            position += 1
        block += 1


def slot_at(
    position: int,
    *,
    seed: str,
    stratum: str,
    weights: Mapping[str, int],
    multiples: Sequence[int],
) -> Slot:
    """The slot at a position of a stratum's sequence."""
    sequence = slots(seed=seed, stratum=stratum, weights=weights, multiples=multiples)
    return next(slot for slot in sequence if slot.position == position)


def _block(
    *, seed: str, stratum: str, block: int, weights: Mapping[str, int], multiples: Sequence[int]
) -> list[str]:
    digest = hashlib.sha256(f"{seed}\x1f{stratum}\x1f{block}".encode()).digest()
    # A statistical generator is enough: secrecy comes from the hashed 128-bit seed.
    random = Random(int.from_bytes(digest, "big"))
    multiple = random.choice(list(multiples))
    arms = [arm for arm in sorted(weights) for _ in range(weights[arm] * multiple)]
    random.shuffle(arms)
    return arms


def _check(weights: Mapping[str, int], multiples: Sequence[int]) -> None:
    if not weights or any(weight < 1 for weight in weights.values()):
        raise ValueError(f"Every arm needs a weight of at least 1, and there must be one: {weights}")
    if not multiples or any(multiple < 1 for multiple in multiples):
        raise ValueError(f"Block multiples are whole numbers of at least 1, not {multiples}")
