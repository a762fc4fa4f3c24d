"""Turns with tool calls, as the tool loop makes them: recall, calls in order, commit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from experiments.models import Participant
from memlab.core.llm.base import ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.values import Recall, Role, Transcript, Turn, Utterance
from memory.architectures.base import NO_EFFECTS, Effects
from memory.architectures.confidence import Confidence
from memory.models import Belief, MemoryEvent
from tests.memory.conftest import run
from tests.memory.dialogue import START, after, identified

Called = tuple[str, Mapping[str, Any] | str]


@dataclass
class Talk:
    """One session of a participant; ``now`` moves on by a minute with each turn."""

    memory: Confidence
    participant: Participant
    now: datetime = START
    turns: list[Turn] = field(default_factory=list)
    recall: Recall | None = None

    def say(self, text: str, *calls: Called, at: datetime | None = None) -> list[dict[str, Any]]:
        """One turn with the calls that the model makes in it; what it was told about each."""
        reply, recall, results, effects = self.prepare(text, *calls, at=at)
        self.commit(recall, reply, effects)
        return results

    def prepare(
        self, text: str, *calls: Called, at: datetime | None = None
    ) -> tuple[UUID, Recall, list[dict[str, Any]], Effects]:
        """The same without storing the reply."""
        self.now = at or self.now + timedelta(minutes=1)
        name = f"{self.participant.pk} {self.now.isoformat()} {text}"
        question = Utterance(
            id=identified(f"said {name}"), role=Role.PARTICIPANT, text=text, at=self.now
        )
        empty = after(day=0)
        transcript = Transcript(
            earlier=(),
            current=replace(empty.current, turns=tuple(self.turns)),
            question=question,
        )
        recall = self.recall = run(self.memory.recall(transcript, text, None, self.now))
        results, effects = called(self.memory, recall, calls, self.now)
        reply = identified(f"answered {name}")
        answer = Utterance(id=reply, role=Role.ASSISTANT, text="I see.", at=self.now)
        self.turns.append(Turn(said=question, answered=answer))
        return reply, recall, results, effects

    def commit(self, recall: Recall, reply: UUID, effects: Effects) -> None:
        with lab_scope(self.participant.lab_id):
            self.memory.commit_recall(recall, recall.at, reply=reply, effects=effects)

    def beliefs(self) -> dict[str, float]:
        """What is believed, and how surely."""
        return {belief.content: belief.confidence for belief in stored(self.participant)}


def called(
    memory: Confidence, recall: Recall, calls: Sequence[Called], now: datetime
) -> tuple[list[dict[str, Any]], Effects]:
    """Make calls one after the other; their results and what they staged."""
    results, effects = [], NO_EFFECTS
    for number, (name, arguments) in enumerate(calls):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = ToolCall(id=str(number), name=name, arguments=written)
        result, effects = run(memory.call_tool(recall, effects, call, now))
        told = json.loads(result.content)
        assert result.refused is ("error" in told)
        results.append(told)
    return results, effects


def stored(participant: Participant) -> list[Belief]:
    with lab_scope(participant.lab_id):
        return list(Belief.objects.of_participant(participant.pk))


def events_of(participant: Participant) -> list[MemoryEvent]:
    with lab_scope(participant.lab_id):
        return list(MemoryEvent.objects.filter(participant=participant).order_by("pk"))


def happened(participant: Participant) -> list[str]:
    """What happened, in order; of a refusal its code."""
    return [
        f"refused:{event.note['code']}" if event.event == "refused" else str(event.event)
        for event in events_of(participant)
    ]


def replayed(participant: Participant) -> dict[UUID, dict[str, Any]]:
    """The state of every belief after laying the events over each other."""
    states: dict[UUID, dict[str, Any]] = {}
    for event in events_of(participant):
        if event.memory_kind != "belief":
            continue
        if event.after is None:
            del states[event.memory_id]
        else:
            states.setdefault(event.memory_id, {}).update(event.after)
    return states


def save(content: str, category: str = "preference", **more: Any) -> Called:
    return "save_memory", {"content": content, "category": category, **more}


def weaken(memory: str, reason: str = "says otherwise") -> Called:
    return "weaken_memory", {"memory": memory, "reason": reason}


def update(memory: str, content: str) -> Called:
    return "update_memory", {"memory": memory, "content": content}


def forget(memory: str, reason: str = "never true") -> Called:
    return "forget_memory", {"memory": memory, "reason": reason}


def look_for(query: str) -> Called:
    return "recall_memory", {"query": query}
