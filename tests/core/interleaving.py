"""Many coroutines that read and write as two labs in turn: nobody may see the other's rows.

``python -m tests.core.interleaving LAB LAB`` does it in a process of its own, whose settings may
put a connection pool in between; it prints how many reads were wrong.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from django.db import connection

COROUTINES = 200
ROUNDS = 5


class OnPurpose(Exception):
    """Ends a unit in mid-scope."""


def look(lab: int, *, fail: bool = False) -> int:
    """The number of wrong things one unit of work sees, as ``lab`` and after it."""
    from experiments.models import Study
    from memlab.core.tenancy import active_lab_id, lab_scope

    wrong = 0
    with lab_scope(lab):
        wrong += {study.lab_id for study in Study.objects.all()} != {lab}
        with connection.cursor() as cursor:
            cursor.execute("SELECT DISTINCT lab_id FROM experiments_study")
            wrong += cursor.fetchall() != [(lab,)]
        if fail:
            raise OnPurpose
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM experiments_study")
        wrong += cursor.fetchall() != [(0,)]
    return wrong + (active_lab_id() is not None)


async def wrong_reads(labs: Sequence[int]) -> int:
    from memlab.core.work import unit

    async def one(number: int) -> int:
        wrong = 0
        for turn in range(ROUNDS):
            lab = labs[(number + turn) % len(labs)]
            try:
                wrong += await unit(look, lab, fail=(number + turn) % 7 == 0)
            except OnPurpose:
                await asyncio.sleep(0)
        return wrong

    return sum(await asyncio.gather(*(one(number) for number in range(COROUTINES))))


if __name__ == "__main__":
    import django

    django.setup()
    print(asyncio.run(wrong_reads([int(lab) for lab in sys.argv[1:]])))
