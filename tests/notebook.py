"""A memory with tools, as small as it can be: a notebook in which the model itself writes.

For tests of what calls tools. Its rows are traits; a model that calls no tools is asked after the
turn what it would have written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid5

from numpy import float32
from numpy.typing import NDArray

from memlab.core.llm.base import ChatMessage, ModelFailure, Speaker, Tool, ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.values import Prompt, PromptTask, Recall, Section, Transcript, Turn
from memlab.core.work import unit
from memory.architectures.base import (
    NO_EFFECTS,
    Architecture,
    Consolidation,
    Effects,
    ToolBudget,
    ToolResult,
)
from memory.enums import Cause, EventKind, MemoryKind, ProfilePart, RunPart
from memory.models import ConsolidationRun, MemoryEvent, Trait
from memory.models.profile import normalised, trait_id

#: For ``settings.MEMORY_ARCHITECTURES``.
NOTEBOOK = {"notebook": "tests.notebook.Notebook"}

GUIDANCE = "You may write into your notebook."
_TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
WRITE = Tool("write", "Write a line into the notebook.", _TEXT)
READ = Tool("read", "Read the notebook.", {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class Line:
    """A line to be written, or the code of why a call was refused."""

    call: str
    text: str = ""
    refused: str = ""


class Notebook(Architecture):
    key = "notebook"
    title = "Notebook"
    observes: ClassVar[bool] = True

    def observes_live(self) -> bool:
        return not self.doors.calls_tools

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        lines = await unit(self._lines)
        sections = [Section(key="notes", title="Notebook", lines=tuple(lines))] if lines else []
        if self.doors.calls_tools:
            sections.append(Section(key="tools", title="Tools", lines=(GUIDANCE,)))
        return Recall(at=now, sections=tuple(sections))

    def tools(self) -> tuple[Tool, ...]:
        return (WRITE, READ) if self.doors.calls_tools else ()

    def tool_budget(self) -> ToolBudget:
        return ToolBudget(rounds=2, calls=3)

    async def call_tool(
        self, recall: Recall, effects: Effects, call: ToolCall, now: datetime
    ) -> tuple[ToolResult, Effects]:
        if len(effects.staged) >= self.tool_budget().calls:
            return self.refuse_call(effects, call, "over_budget")
        try:
            given = json.loads(call.arguments)
        except ValueError:
            return self.refuse_call(effects, call, "malformed")
        match call.name, given:
            case "write", {"text": str(text)}:
                return _told({"written": text}), _with(effects, Line(call.name, text))
            case "read", {}:
                lines = [*await unit(self._lines), *(line.text for line in effects.staged)]
                return _told({"lines": lines}), _with(effects, Line(call.name))
            case _:
                return self.refuse_call(effects, call, "unknown_tool")

    def refuse_call(
        self, effects: Effects, call: ToolCall, code: str
    ) -> tuple[ToolResult, Effects]:
        refusal, _unchanged = super().refuse_call(effects, call, code)
        return refusal, _with(effects, Line(call.name, refused=code))

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        self._write([line.text for line in effects.staged if line.text], source=reply, now=now)
        MemoryEvent.objects.record(
            MemoryEvent(
                participant_id=self.participant_id,
                event=EventKind.REFUSED,
                memory_kind=MemoryKind.TOOL,
                memory_id=uuid5(reply, f"call {number}"),
                after={"call": line.call, "code": line.refused},
                cause=Cause.TOOL,
                reply_id=reply,
                study_at=now,
            )
            for number, line in enumerate(effects.staged)
            if line.refused
        )

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        prompt = Prompt(
            task=PromptTask.CALL_TOOLS,
            language=self.setting.language,
            system="Answer with the lines for your notebook, as a JSON list.",
            messages=(ChatMessage(Speaker.USER, turn.said.text),),
        )
        try:
            answer = await self.doors.extraction.complete(prompt, json=True)
        except ModelFailure as failure:
            return Consolidation(degraded=(f"extraction:{failure.kind}",))
        return await unit(self._write_turn, turn.answered.id, json.loads(answer.text), now)

    def _write_turn(self, subject: UUID, texts: Sequence[str], now: datetime) -> Consolidation:
        with lab_scope(self.lab_id):
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id, subject=subject, part=RunPart.TURN, now=now
            )
            if run is None:
                return Consolidation()
            return Consolidation(written={"trait": self._write(texts, source=subject, now=now)})

    def _write(self, texts: Sequence[str], *, source: UUID, now: datetime) -> int:
        written: int = Trait.objects.learn(
            [self._trait(text, source, now) for text in texts], now=now
        )
        return written

    def _trait(self, text: str, source: UUID, now: datetime) -> Trait:
        part, same = ProfilePart.PREFERENCES, normalised(text)
        return Trait(
            id=trait_id(participant=self.participant, dimension=part, normalised_text=same),
            lab_id=self.lab_id,
            participant_id=self.participant_id,
            session_id=source,
            session_number=1,
            stage_key="T1",
            dimension=part,
            text=text,
            normalised=same,
            salience=0.5,
            message_ids=[source],
            learned_at=now,
        )

    def _lines(self) -> list[str]:
        with lab_scope(self.lab_id):
            return [trait.text for trait in Trait.objects.of_participant(self.participant_id)]


def _told(result: dict[str, Any]) -> ToolResult:
    return ToolResult(content=json.dumps(result, ensure_ascii=False))


def _with(effects: Effects, line: Line) -> Effects:
    return replace(effects, staged=(*effects.staged, line))
