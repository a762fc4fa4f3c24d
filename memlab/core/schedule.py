"""The one fixed schedule of the task cluster, put in place by every ``migrate``."""

from __future__ import annotations

from typing import Any

from django.db import transaction

NAME = "memlab tick"


def ensure_tick(**signal: Any) -> None:
    """Keep exactly one schedule that calls the tick once a minute.

    Names of schedules are not unique, and one malformed row blocks all of them, so whatever
    earlier versions left under this name is replaced.
    """
    from django_q.models import Schedule

    with transaction.atomic():
        rows = list(Schedule.objects.select_for_update().filter(name=NAME).order_by("pk"))
        Schedule.objects.filter(pk__in=[row.pk for row in rows[1:]]).delete()
        schedule = rows[0] if rows else Schedule(name=NAME)
        schedule.func = "memlab.core.due.tick"
        schedule.schedule_type = Schedule.MINUTES
        schedule.minutes = 1
        schedule.repeats = -1
        schedule.save()
