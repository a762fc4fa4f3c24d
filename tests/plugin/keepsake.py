"""A memory that keeps a few lines, as a lab's own package would bring it.

It works in every phase and touches no file outside its package. All it has are events: what a
keepsake is now is what its events' ``after`` come to when laid over each other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from numpy import float32
from numpy.typing import NDArray

from experiments.parameters import Parameter
from memlab.core.llm.base import Tool, ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.values import MemoryReading, Recall, Section, SessionTranscript, Transcript, Turn
from memlab.core.work import unit
from memory.architectures.base import (
    NO_EFFECTS,
    Architecture,
    Consolidation,
    Effects,
    ToolBudget,
    ToolResult,
)
from memory.enums import Cause, EventKind, Reason, RunPart
from memory.models import ConsolidationRun, MemoryEvent

#: The kind that stands in events, receipts and the back office; ours stand in ``memory.enums``.
KIND = "keepsake"

KEEP = Tool(
    "keep",
    "Keep a line about the user.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
TITLES = {"en": "What you kept", "zh-hans": "你留存的话"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One keepsake as its events have left it."""

    id: UUID
    text: str
    anchor: datetime
    weight: int
    messages: tuple[UUID, ...]
    session: str


class Keepsakes(Architecture):
    """Shows the weightiest lines; a line that was shown weighs more, one that wasn't expires."""

    key = "keepsakes"
    title = "Keepsakes"
    parameters = (
        Parameter(
            name="lasts_days",
            default=7.0,
            minimum=0.1,
            maximum=365.0,
            unit="days",
            help_en="How long a keepsake stays that isn't shown.",
            help_zh="未被展示的留存语句保留多少天。",
        ),
        Parameter(
            name="shown",
            default=2,
            minimum=1,
            maximum=20,
            unit="lines",
            help_en="How many keepsakes a prompt carries.",
            help_zh="每次提示携带多少条留存语句。",
        ),
    )
    presets = {"brief": {"lasts_days": 1.0}}
    seed_instructions = {
        "en": "You keep a few lines of the user's.",
        "zh-hans": "你会留存用户的几句话。",
    }
    observes = consolidates = begins = maintains = True

    # What it brings to a turn

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        shown = self._ranked(await unit(self._kept), now)[: self.values["shown"]]
        lines = tuple(f"- {each.text}" for each in shown)
        title = TITLES[self.setting.language]
        return Recall(
            at=now,
            sections=(Section(key=KIND, title=title, lines=lines),) if lines else (),
            memories=tuple(self._reading(each, Reason.RECALLED, recalled=True) for each in shown),
            message_ids=tuple(message for each in shown for message in each.messages),
        )

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        shown = {reading.id for reading in recall.memories}
        left_out = [
            each for each in self._ranked(await unit(self._kept), now) if each.id not in shown
        ]
        return tuple(self._reading(each, Reason.BEYOND_LIMIT, recalled=False) for each in left_out)

    def tools(self) -> tuple[Tool, ...]:
        return (KEEP,) if self.doors.calls_tools else ()

    def tool_budget(self) -> ToolBudget:
        return ToolBudget(rounds=1, calls=1)

    async def call_tool(
        self, recall: Recall, effects: Effects, call: ToolCall, now: datetime
    ) -> tuple[ToolResult, Effects]:
        if effects.staged:
            return self.refuse_call(effects, call, "over_budget")
        try:
            given = json.loads(call.arguments)
        except ValueError:
            given = None
        match call.name, given:
            case "keep", {"text": str(text)} if text.strip():
                staged = replace(effects, staged=(text.strip()[:200],))
                return ToolResult(content=json.dumps({"kept": True})), staged
            case _:
                return self.refuse_call(effects, call, "malformed")

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        if MemoryEvent.objects.strengthened_by(reply):
            return
        kept = {each.id: each for each in self._kept_now()}
        for reading in recall.memories:
            each = kept[reading.id]
            after = {"weight": each.weight + 1, "anchor": now.isoformat()}
            self._note(EventKind.RECALLED, each.id, after, Cause.RECALL, now, reply=reply)
        for text in effects.staged:
            self._keep(text, messages=[reply], session=None, now=now, cause=Cause.TOOL)

    # What turns, sessions and time do to it

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        return await unit(self._once, turn.answered.id, RunPart.TURN, now, self._observed, turn)

    def _observed(self, turn: Turn, now: datetime) -> int:
        text, messages = turn.said.text[:200], [turn.said.id]
        self._keep(text, messages=messages, session=turn.session, now=now, cause=Cause.OBSERVATION)
        return 1

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        return await unit(self._once, session.id, RunPart.LOG, now, self._consolidated, session)

    def _consolidated(self, session: SessionTranscript, now: datetime) -> int:
        """What a session left weighs twice as much after it."""
        own = [each for each in self._kept_now() if each.session == str(session.id)]
        for each in own:
            after = {"weight": 2 * each.weight}
            self._note(EventKind.REINFORCED, each.id, after, Cause.CONSOLIDATION, now)
        return len(own)

    async def begin_session(self, session: UUID, now: datetime) -> Consolidation:
        return await unit(self._once, session, RunPart.BEGIN, now, self._begun, session)

    def _begun(self, session: UUID, now: datetime) -> int:
        """A session starts with the ten weightiest."""
        surplus = self._ranked(self._kept_now(), now)[10:]
        for each in surplus:
            self._note(EventKind.EVICTED, each.id, {}, Cause.SESSION_START, now)
        return len(surplus)

    def next_maintenance(self) -> datetime | None:
        return min((each.anchor + self._lasts for each in self._kept_now()), default=None)

    async def maintain(self, now: datetime) -> Consolidation:
        expired = await unit(self._expire, now)
        return Consolidation(written={"expired": expired} if expired else None)

    def _expire(self, now: datetime) -> int:
        with lab_scope(self.lab_id):
            gone = [each for each in self._kept_now() if each.anchor + self._lasts <= now]
            for each in sorted(gone, key=lambda each: each.anchor):
                moment = each.anchor + self._lasts
                self._note(EventKind.EXPIRED, each.id, {}, Cause.PASSIVE, moment)
            return len(gone)

    # The events

    @property
    def _lasts(self) -> timedelta:
        return timedelta(days=self.values["lasts_days"])

    def _kept(self) -> list[Kept]:
        with lab_scope(self.lab_id):
            return self._kept_now()

    def _kept_now(self) -> list[Kept]:
        states: dict[UUID, dict[str, Any]] = {}
        events = MemoryEvent.objects.filter(
            participant_id=self.participant_id, memory_kind=KIND
        ).order_by("pk")
        for event in events:
            if event.event in (EventKind.EXPIRED, EventKind.EVICTED):
                states.pop(event.memory_id, None)
            else:
                states[event.memory_id] = states.get(event.memory_id, {}) | (event.after or {})
        return [
            Kept(
                id=key,
                text=state["text"],
                anchor=datetime.fromisoformat(state["anchor"]),
                weight=state["weight"],
                messages=tuple(UUID(message) for message in state["messages"]),
                session=state["session"],
            )
            for key, state in states.items()
        ]

    def _ranked(self, kept: Sequence[Kept], now: datetime) -> list[Kept]:
        """The weightiest first; what has expired by ``now`` counts as gone."""
        alive = [each for each in kept if each.anchor + self._lasts > now]
        return sorted(alive, key=lambda each: (-each.weight, -each.anchor.timestamp(), each.id))

    def _reading(self, each: Kept, reason: Reason, *, recalled: bool) -> MemoryReading:
        return MemoryReading(
            kind=KIND,
            id=each.id,
            text=each.text,
            recalled=recalled,
            reason=reason,
            score=float(each.weight),
            message_ids=each.messages,
        )

    def _once(
        self, subject: UUID, part: RunPart, now: datetime, work: Any, about: Any
    ) -> Consolidation:
        with lab_scope(self.lab_id):
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id, subject=subject, part=part, now=now
            )
            if run is None:
                return Consolidation()
            written = {KIND: work(about, now)}
            run.record(written=written, dropped={})
        return Consolidation(written=written)

    def _keep(
        self,
        text: str,
        *,
        messages: Sequence[UUID],
        session: UUID | None,
        now: datetime,
        cause: Cause,
    ) -> None:
        after = {
            "text": text,
            "weight": 1,
            "anchor": now.isoformat(),
            "messages": [str(message) for message in messages],
            "session": str(session),
        }
        key = uuid5(self.participant, f"{KIND}:{messages[0]}")
        self._note(EventKind.ENCODED, key, after, cause, now)

    def _note(
        self,
        event: EventKind,
        key: UUID,
        after: dict[str, Any],
        cause: Cause,
        now: datetime,
        *,
        reply: UUID | None = None,
    ) -> None:
        MemoryEvent.objects.create(
            participant_id=self.participant_id,
            event=event,
            memory_kind=KIND,
            memory_id=key,
            after=after,
            cause=cause,
            reply_id=reply,
            study_at=now,
        )
