"""The smallest memory that does something in every phase: each turn is a line that fades a day,
three days and a week after it was last read.

All it has are events. Each notes how many came before it, so that two memories are equal only if
the same happened to them in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID, uuid5

from memlab.core.tenancy import lab_scope
from memlab.core.values import Recall, SessionTranscript, Turn
from memlab.core.work import unit
from memory.architectures.base import NO_EFFECTS, Architecture, Consolidation, Effects
from memory.enums import Cause, EventKind, MemoryKind, RunPart
from memory.models import ConsolidationRun, MemoryEvent

FADES = (timedelta(days=1), timedelta(days=3), timedelta(days=7))

#: What a test compares: the event, the line or phase, the study time, how many came before.
Entry = tuple[str, str, datetime, int]


class Diary(Architecture):
    key = "diary"
    title = "Diary"
    observes = consolidates = begins = maintains = True
    #: Reasons for which ``maintain`` falls short, one a run; lines that ``observe`` misses once.
    troubles: ClassVar[list[str]] = []
    unheard: ClassVar[list[str]] = []

    async def begin_session(self, session: UUID, now: datetime) -> Consolidation:
        return await unit(self._once, session, RunPart.BEGIN, EventKind.REHEARSED, "begin", now)

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        line = turn.said.text
        if line in self.unheard:
            self.unheard.remove(line)
            return Consolidation(degraded=("extraction:timeout",))
        return await unit(self._once, turn.answered.id, RunPart.TURN, EventKind.ENCODED, line, now)

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        return await unit(self._once, session.id, RunPart.LOG, EventKind.MERGED, "session", now)

    async def consolidate_by_hand(self, now: datetime) -> Consolidation:
        await self.maintain(now)
        subject = uuid5(self.participant, now.isoformat())
        return await unit(self._once, subject, RunPart.SLEEP, EventKind.SHIFTED, "by hand", now)

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        for line in sorted(self._anchors()):
            self._note(EventKind.RECALLED, line, now, reply=reply)

    def next_maintenance(self) -> datetime | None:
        return min((moment for moment, _line in self._fading()), default=None)

    async def maintain(self, now: datetime) -> Consolidation:
        if self.troubles:
            return Consolidation(degraded=(self.troubles.pop(0),))
        faded = 0
        while await unit(self._fade, now):
            faded += 1
        return Consolidation(written={"faded": faded} if faded else {})

    def _fade(self, now: datetime) -> bool:
        """One line, one step, at its own moment."""
        with lab_scope(self.lab_id):
            due = min(self._fading(), default=None)
            if due is None or due[0] > now:
                return False
            self._note(EventKind.COMPRESSED, due[1], due[0])
            return True

    def _fading(self) -> Iterator[tuple[datetime, str]]:
        for line, (anchor, steps) in self._anchors().items():
            if steps < len(FADES):
                yield anchor + FADES[steps], line

    def _anchors(self) -> dict[str, tuple[datetime, int]]:
        anchors: dict[str, tuple[datetime, int]] = {}
        for event, line, at, _nth in entries(self.participant_id):
            if event in (EventKind.ENCODED, EventKind.RECALLED):
                anchors[line] = (at, 0)
            elif event == EventKind.COMPRESSED:
                anchors[line] = (anchors[line][0], anchors[line][1] + 1)
        return anchors

    def _once(
        self, subject: UUID, part: RunPart, event: EventKind, line: str, now: datetime
    ) -> Consolidation:
        with lab_scope(self.lab_id):
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id, subject=subject, part=part, now=now
            )
            if run is None:
                return Consolidation()
            self._note(event, line, now)
        return Consolidation(written={"line": 1})

    def _note(
        self, event: EventKind, line: str, now: datetime, *, reply: UUID | None = None
    ) -> None:
        MemoryEvent.objects.create(
            participant_id=self.participant_id,
            event=event,
            memory_kind=MemoryKind.LOG,
            memory_id=uuid5(self.participant, line),
            after={"line": line, "nth": len(entries(self.participant_id))},
            cause=Cause.PASSIVE,
            reply_id=reply,
            study_at=now,
        )


def entries(participant_id: int) -> list[Entry]:
    """Everything that ever happened to a diary, in a scope."""
    rows = MemoryEvent.objects.filter(participant_id=participant_id).order_by("pk")
    noted = [(row, row.after or {}) for row in rows]
    return [(row.event, after["line"], row.study_at, after["nth"]) for row, after in noted]
