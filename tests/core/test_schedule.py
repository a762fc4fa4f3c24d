"""The tick's one schedule."""

import pytest
from django_q.models import Schedule

from memlab.core.schedule import NAME, ensure_tick


@pytest.mark.django_db
def test_the_tick_is_scheduled_once_whatever_was_there_before() -> None:
    Schedule.objects.all().delete()
    for _ in range(2):
        Schedule.objects.create(name=NAME, func="gone.away", schedule_type=Schedule.ONCE)
    ensure_tick()
    ensure_tick()
    (schedule,) = Schedule.objects.filter(name=NAME)
    assert (schedule.func, schedule.schedule_type, schedule.minutes, schedule.repeats) == (
        "memlab.core.due.tick",
        Schedule.MINUTES,
        1,
        -1,
    )
