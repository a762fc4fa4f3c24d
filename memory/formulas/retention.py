"""The retention score: what is important and often needed stays at hand, the rest is put away.

Symbols, the same throughout:

=====  ==========================================================================
I      importance of an item, in [0, 1], as judged when it was stored
F      frequency: 1 + the number of times it was needed since (its hits)
T      time since it was last needed or stored, in days or in turns, 0 or more
R      rate: what one unit of time takes off the score, 0 or more
θ      threshold: the score at which an item leaves for the archive
=====  ==========================================================================

A linear reading of Ebbinghaus' (1885) observation that what isn't repeated is lost, with
importance and repetition against it. Every function is pure, takes keywords only, and raises
ValueError for values out of range.
"""

from __future__ import annotations

import math

from memory.formulas.bounds import not_negative, within

#: Differences of decimal fractions are off in their last digits: (0.2 − 0.15)/0.05 should be 1.
DIGITS = 9


def score(*, importance: float, hits: int, elapsed: float, rate: float = 0.05) -> float:
    """I·F − T·R, with F = 1 + hits. At most I·F, without a lower bound."""
    within("importance", importance, 0.0, 1.0)
    not_negative("hits", hits)
    not_negative("elapsed", elapsed)
    not_negative("rate", rate)
    return importance * (1 + hits) - elapsed * rate


def archive_after(
    *, importance: float, hits: int, threshold: float = 0.15, rate: float = 0.05
) -> float:
    """For how long after an access an item stays: max(0, (I·F − θ)/R), in the unit of T.

    It leaves as soon as that much has elapsed. Infinite for an item above the threshold where
    nothing is forgotten (R = 0). Rounded to 1e-9 of a unit, so that an item is due after whole
    units where the decimal fractions say so.
    """
    within("importance", importance, 0.0, 1.0)
    not_negative("hits", hits)
    not_negative("threshold", threshold)
    not_negative("rate", rate)
    margin = round(importance * (1 + hits) - threshold, 2 * DIGITS - 3)
    if margin <= 0.0:
        return 0.0
    return math.inf if rate == 0.0 else round(margin / rate, DIGITS)
