"""``python -m tests.processes.reminder_worker CLOCK``: hands out due work and does it, for ever.

As the tick and a task process do, but without a minute between two ticks, and at a wall clock that
is ahead by the seconds in the file ``CLOCK``.
"""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from pathlib import Path

import django


def work(clock: Path) -> None:
    from memlab.core.clock import wall_now
    from memlab.core.due import Due, DueKind
    from memlab.core.tenancy import lab_scope
    from memlab.journey import reminders, stages

    while True:
        wall = wall_now() + timedelta(seconds=float(clock.read_text()))
        rows = Due.objects.hand_out(wall=wall, kinds=(DueKind.WINDOW, DueKind.REMINDER), limit=2)
        for row in rows:
            if row.kind == DueKind.WINDOW:
                with lab_scope(row.lab_id):
                    stages.follow_by_id(row.subject, wall=wall)
            else:
                reminders.send(row.lab_id, row.subject, wall=wall)
        if not rows:
            time.sleep(0.05)


if __name__ == "__main__":
    django.setup()
    work(Path(sys.argv[1]))
