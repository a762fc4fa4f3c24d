"""What tool calls stage, as frozen values, and how it is applied with the reply.

Every call stages one value, refused calls too. They are applied in order, in the transaction that
stores the reply, to rows that are locked and still as the call found them; what can't be applied
any more leaves an event that says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from memlab.core.values import Grounds
from memory.enums import EventKind, MemoryKind
from memory.models import Belief, MemoryEvent
from memory.models.belief import Change, belief_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A memory to be formed."""

    content: str
    category: str
    factual: bool
    message_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A row as a call found it."""

    memory: UUID
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned(Found):
    """A memory that was said again."""

    message_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accessed:
    """Memories that a search found; ``handles`` name those that the prompt doesn't show."""

    memories: tuple[Found, ...]
    handles: tuple[tuple[str, UUID], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weakened(Found):
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated(Found):
    content: str
    message_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Found):
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A call that does nothing. ``arguments`` is the beginning of what the model wrote."""

    tool: str
    code: str
    arguments: str


Staged = Saved | Mentioned | Accessed | Weakened | Updated | Forgotten | Refused


def undone(staged: Sequence[Staged]) -> frozenset[UUID]:
    """The memories that a turn weakens, corrects or forgets: none of them is reinforced by it."""
    return frozenset(
        each.memory for each in staged if isinstance(each, (Weakened, Updated, Forgotten))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Applying:
    """One reply's effects, about to be applied in a transaction."""

    participant_id: int
    participant: UUID
    reply: UUID
    now: datetime
    grounds: Grounds
    change: Change
    drop: float
    boost: float

    def apply(self, staged: Sequence[Staged]) -> tuple[dict[str, int], dict[str, int]]:
        """Apply what was staged, in order: rows changed by kind, and what was refused by code."""
        rows = Belief.objects.locked(_named(staged), participant_id=self.participant_id)
        first = _first_versions(staged)
        usable = {
            memory: rows[memory]
            for memory, version in first.items()
            if memory in rows and rows[memory].version == version
        }
        written: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        spared, accessed = undone(staged), set[UUID]()
        for position, each in enumerate(staged):
            match each:
                case Refused():
                    outcome = each.code
                case Saved():
                    outcome = self._form(each, position)
                case Accessed():
                    outcome = self._access(each, usable, accessed)
                case Mentioned() if each.memory in spared:
                    outcome = "once_a_turn"
                case _:
                    outcome = self._change(each, usable)
            if outcome:
                dropped[outcome] += 1
                self._refuse(each, outcome, position)
            else:
                written[MemoryKind.BELIEF.value] += 1
        return dict(written), dict(dropped)

    def _form(self, saved: Saved, position: int) -> str:
        belief = Belief(
            id=belief_id(participant=self.participant, source=self.reply, position=position),
            participant_id=self.participant_id,
            session_id=self.grounds.session,
            session_number=self.grounds.session_number,
            stage_key=self.grounds.stage,
            content=saved.content,
            category=saved.category,
            factual=saved.factual,
            message_ids=list(saved.message_ids),
            formed_at=self.now,
            position=position,
            changed_at=self.now,
        )
        Belief.objects.form([belief], self.change)
        return ""

    def _access(self, accessed: Accessed, usable: Mapping[UUID, Belief], done: set[UUID]) -> str:
        """Count an access of each, once a reply, where the row is still as it was found."""
        outcome = ""
        for found in accessed.memories:
            row = usable.get(found.memory)
            if row is None or row.gone:
                outcome = "changed_meanwhile"
            elif found.memory not in done:
                row.access(self.change)
                done.add(found.memory)
        return outcome

    def _change(
        self, each: Mentioned | Weakened | Updated | Forgotten, usable: Mapping[UUID, Belief]
    ) -> str:
        row = usable.get(each.memory)
        if row is None or row.gone:
            return "changed_meanwhile"
        match each:
            case Mentioned():
                row.reinforce(self.change, boost=self.boost, message_ids=each.message_ids)
            case Weakened():
                row.weaken(self._because(each.reason), drop=self.drop)
            case Updated():
                row.update(self.change, content=each.content, message_ids=each.message_ids)
            case Forgotten():
                row.forget(self._because(each.reason))
        return ""

    def _because(self, reason: str) -> Change:
        return replace(self.change, note={**self.change.note, "reason": reason})

    def _refuse(self, each: Staged, code: str, position: int) -> None:
        note: dict[str, Any] = {"code": code}
        if isinstance(each, Refused):
            note |= {"tool": each.tool, "arguments": each.arguments}
        elif isinstance(each, Accessed):
            note |= {"memories": [str(found.memory) for found in each.memories]}
        elif isinstance(each, Found):
            note |= {"memory": str(each.memory), "staged": type(each).__name__.lower()}
        MemoryEvent.objects.record(
            [
                MemoryEvent(
                    participant_id=self.participant_id,
                    event=EventKind.REFUSED,
                    memory_kind=MemoryKind.TOOL,
                    memory_id=uuid5(self.participant, f"tool:{self.reply}:{position}"),
                    note=note,
                    cause=self.change.cause,
                    session_id=self.change.session,
                    reply_id=self.change.reply,
                    study_at=self.now,
                )
            ]
        )


def _found(staged: Sequence[Staged]) -> list[Found]:
    found: list[Found] = []
    for each in staged:
        if isinstance(each, Accessed):
            found.extend(each.memories)
        elif isinstance(each, Found):
            found.append(each)
    return found


def _named(staged: Sequence[Staged]) -> list[UUID]:
    return list(dict.fromkeys(found.memory for found in _found(staged)))


def _first_versions(staged: Sequence[Staged]) -> dict[UUID, int]:
    """Each row's version when a call first found it: what applying the calls starts from."""
    versions: dict[UUID, int] = {}
    for found in _found(staged):
        versions.setdefault(found.memory, found.version)
    return versions
