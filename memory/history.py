"""What the log of events says about a memory over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from memory.enums import EventKind
from memory.models import MemoryEvent

#: After these a memory is no longer there.
GONE = frozenset({EventKind.FORGOTTEN, EventKind.EVICTED, EventKind.EXPIRED})

#: Study time, event, kind of memory, the memory's id.
Happened = tuple[datetime, str, str, UUID]


def census(events: Iterable[Happened], moments: Sequence[datetime]) -> Iterator[dict[str, int]]:
    """How many memories of each kind there were at each of the ``moments``, which must ascend.

    ``events`` are a participant's in the order of their study times.
    """
    living: dict[UUID, str] = {}
    coming = iter(events)
    pending = next(coming, None)
    for moment in moments:
        while pending is not None and pending[0] <= moment:
            _at, event, kind, memory = pending
            if event == EventKind.ENCODED:
                living[memory] = kind
            elif event in GONE:
                living.pop(memory, None)
            pending = next(coming, None)
        yield dict(sorted(Counter(living.values()).items()))


def happened_to(participant_id: int) -> Iterable[Happened]:
    """A participant's events in the order of study time, as ``census`` wants them."""
    events = MemoryEvent.objects.filter(participant_id=participant_id).order_by("study_at", "pk")
    rows: Iterable[Happened] = events.values_list("study_at", "event", "memory_kind", "memory_id")
    return rows
