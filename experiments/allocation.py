"""Concealed allocation by permuted blocks of random size.

Pure: the sequence of a stratum follows from a secret seed alone, so it can be audited after the
study closes and nobody can read the next arm off the last ones. A block holds each arm
``weight × multiple`` times in random order; the multiple is drawn for every block, which hides
where a block ends (Matts & Lachin 1988; ICH E9, section 2.3.2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
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
    digest = hashlib.sha256(f"{seed}\x1f{stratum}\x1f{number}".encode()).digest()
    # A statistical generator is enough: secrecy comes from the hashed 128-bit seed.
    random = Random(int.from_bytes(digest, "big"))
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


def _check(weights: Mapping[str, int], multiples: Sequence[int]) -> None:
    if not weights or any(weight < 1 for weight in weights.values()):
        raise ValueError(
            f"Every arm needs a weight of at least 1, and there must be one: {weights}"
        )
    if not multiples or any(multiple < 1 for multiple in multiples):
        raise ValueError(f"Block multiples are whole numbers of at least 1, not {multiples}")
