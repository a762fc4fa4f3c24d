"""Adaptive confidence: trust what is said first, be patient with contradiction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from experiments.parameters import Parameter
from memlab.core.llm.base import Tool, ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.values import (
    Grounds,
    MemoryReading,
    Recall,
    SessionTranscript,
    Statement,
    Transcript,
    Turn,
)
from memlab.core.work import unit
from memory.architectures.base import (
    NO_EFFECTS,
    Architecture,
    Consolidation,
    Effects,
    ToolBudget,
    ToolResult,
)
from memory.architectures.confidence_boot import Boot
from memory.architectures.confidence_desk import Desk, refused
from memory.architectures.confidence_effects import Applying
from memory.architectures.confidence_extraction import LogEntry, asked_calls, asked_log
from memory.architectures.confidence_parameters import CONFIDENCE, categories
from memory.architectures.confidence_tools import RECALL, declared_tools
from memory.architectures.confidence_wording import confidence_wording
from memory.encoding import own_messages
from memory.enums import Cause, MemoryKind, RunPart
from memory.extraction import ExtractionFailed, as_statements
from memory.formulas.confidence import Band
from memory.models import Belief, ConsolidationRun, SessionLog
from memory.models.belief import Change
from memory.models.session_log import log_id

#: How many hidden memories a receipt lists.
NEAR_MISSES = 20


class Confidence(Architecture):
    """Believes what is said, doubts it by steps when it is contradicted, and lets the model that
    talks look after its own memory by tools.

    Nothing is searched for a turn: profile, logs, what is confirmed and what is uncertain are in
    every prompt, and the hidden are found by ``recall_memory`` alone. Effects of tools wait for
    the reply that they belong to. Without a model that calls tools, the calls of each turn are
    asked for afterwards, from what was said; so are those of turns before there was an arm.

    Decided here: a new memory has to consist of words that the participant has said in the
    session, for the most part (``support``), a correction or a mention of words of this very
    message, so that neither recalled text nor invention becomes memory. A content that denies a
    memory is no mention of it, though the keywords agree. Within a turn a memory is weakened,
    corrected or forgotten at most once, and confirmed at most once. Only facts are corrected, and
    a correction is as certain as a first statement. What is shown in every prompt isn't
    strengthened by it.
    """

    key = "confidence"
    title = _("Adaptive confidence")
    parameters: ClassVar[Sequence[Parameter]] = CONFIDENCE
    observes = True
    consolidates = True
    begins = True
    seed_instructions = {
        "en": (
            "You keep your own memory of the user. Trust what they tell you the first time. When "
            "they contradict it, be patient: moods pass, so doubt a little more each time instead "
            "of overwriting. Rely on what is confirmed, and ask gently about what is uncertain."
        ),
        "zh-hans": (
            "关于用户的记忆由你自己维护。第一次听到的，就相信。听到矛盾时要有耐心：心情会变，"
            "每次只多一分怀疑，而不是覆盖。确认的可以放心使用，不确定的请委婉地问一问。"
        ),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.categories = categories(self.values["extra_categories"])
        self.words = confidence_wording(self.setting.language)
        self.boot = Boot(
            words=self.words,
            values=self.values,
            setting=self.setting,
            categories=self.categories,
            tools=self.doors.calls_tools,
        )

    def observes_live(self) -> bool:
        return not self.doors.calls_tools

    # What it brings to a turn

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        beliefs, logs = await unit(self._load, now)
        return self.boot.recall(beliefs, logs, _grounds(transcript, query), now)

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        """The hidden memories, the surest first."""
        beliefs, _logs = await unit(self._load, now)
        hidden = self.boot.of_band(beliefs, Band.HIDDEN)
        hidden.sort(key=Belief.worth, reverse=True)
        return tuple(self.boot.reading(belief, now) for belief in hidden[:NEAR_MISSES])

    def _load(self, now: datetime) -> tuple[list[Belief], list[SessionLog]]:
        since = now - timedelta(days=self.values["recent_log_days"])
        with lab_scope(self.lab_id):
            logs = SessionLog.objects.of_participant(self.participant_id)
            return self._beliefs(), list(logs.filter(at__gte=since))

    def _beliefs(self) -> list[Belief]:
        return list(Belief.objects.of_participant(self.participant_id))

    # Tools

    def tools(self) -> tuple[Tool, ...]:
        return self._declared() if self.doors.calls_tools else ()

    def _declared(self) -> tuple[Tool, ...]:
        return declared_tools(
            self.words, categories=self.categories, longest=self.values["content_characters"]
        )

    def tool_budget(self) -> ToolBudget:
        return ToolBudget(rounds=self.values["tool_rounds"], calls=self.values["tool_calls"])

    async def call_tool(
        self, recall: Recall, effects: Effects, call: ToolCall, now: datetime
    ) -> tuple[ToolResult, Effects]:
        return await self._called(recall, effects, call, offered=self.tools())

    def refuse_call(
        self, effects: Effects, call: ToolCall, reason: str
    ) -> tuple[ToolResult, Effects]:
        return refused(call, reason, words=self.words, staged=effects.staged)

    async def _called(
        self, recall: Recall, effects: Effects, call: ToolCall, *, offered: Sequence[Tool]
    ) -> tuple[ToolResult, Effects]:
        assert recall.grounds is not None, "A recall of this architecture has its grounds."
        rows = await unit(self._rows)
        desk = Desk(
            recall=recall,
            grounds=recall.grounds,
            rows=rows,
            staged=effects.staged,
            offered=[tool.name for tool in offered],
            categories=self.categories,
            words=self.words,
            values=self.values,
            band_of=self.boot.band,
        )
        return desk.answer(call)

    def _rows(self) -> Mapping[UUID, Belief]:
        with lab_scope(self.lab_id):
            return {belief.pk: belief for belief in self._beliefs()}

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        if effects.staged:
            self._apply(recall, effects, now, reply=reply, cause=Cause.TOOL)

    def _apply(
        self, recall: Recall, effects: Effects, now: datetime, *, reply: UUID, cause: Cause
    ) -> Consolidation:
        """Apply what a turn has staged, once, in the scope that is open."""
        assert recall.grounds is not None, "A recall of this architecture has its grounds."
        run = ConsolidationRun.objects.claim(
            participant_id=self.participant_id, subject=reply, part=RunPart.TURN, now=now
        )
        if run is None:
            return Consolidation()
        applying = Applying(
            participant_id=self.participant_id,
            participant=self.participant,
            reply=reply,
            now=now,
            grounds=recall.grounds,
            change=Change(cause=cause, now=now, session=recall.grounds.session, reply=reply),
            drop=self.values["weaken_drop"],
            boost=self.values["reinforce_boost"],
        )
        written, dropped = applying.apply(effects.staged)
        run.record(written=written, dropped=dropped)
        return Consolidation(written=written)

    # Turns that no tool has seen

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        seen, beliefs = await unit(self._load_unseen, turn.answered.id)
        if seen:
            return Consolidation()
        recall = self.boot.whole(beliefs, _grounds_of(turn), now)
        tools = [tool for tool in self._declared() if tool.name != RECALL]
        try:
            calls = await asked_calls(
                self.doors.extraction,
                language=self.setting.language,
                turn=turn,
                tools=tools,
                sections=recall.sections,
            )
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        effects = NO_EFFECTS
        for call in calls:
            _result, effects = await self._called(recall, effects, call, offered=tools)
        return await unit(self._write_turn, recall, effects, turn)

    def _load_unseen(self, reply: UUID) -> tuple[bool, list[Belief]]:
        with lab_scope(self.lab_id):
            parts = ConsolidationRun.objects.parts_of(
                participant_id=self.participant_id, subject=reply
            )
            return RunPart.TURN in parts, self._beliefs()

    def _write_turn(self, recall: Recall, effects: Effects, turn: Turn) -> Consolidation:
        with lab_scope(self.lab_id):
            return self._apply(
                recall, effects, turn.said.at, reply=turn.answered.id, cause=Cause.OBSERVATION
            )

    # The line about a session, and upkeep at the start of the next

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        if RunPart.LOG in await unit(self._written_parts, session.id):
            return Consolidation()
        said = as_statements(own_messages(session))
        try:
            entry = said and await asked_log(
                self.doors.extraction,
                language=self.setting.language,
                said=said,
                longest=self.values["log_characters"],
            )
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        return await unit(self._write_log, session, entry or None, now)

    def _written_parts(self, session: UUID) -> frozenset[RunPart]:
        with lab_scope(self.lab_id):
            parts: frozenset[RunPart] = ConsolidationRun.objects.parts_of(
                participant_id=self.participant_id, subject=session
            )
            return parts

    def _write_log(
        self, session: SessionTranscript, entry: LogEntry | None, now: datetime
    ) -> Consolidation:
        with lab_scope(self.lab_id):
            run = self._claim(session.id, RunPart.LOG, now)
            if run is None:
                return Consolidation()
            written = {MemoryKind.LOG.value: 0}
            if entry is not None:
                log = SessionLog(
                    id=log_id(participant=self.participant, session=session.id),
                    participant_id=self.participant_id,
                    session_id=session.id,
                    session_number=session.number,
                    stage_key=session.stage,
                    text=entry.text,
                    message_ids=list(entry.message_ids),
                    at=max(each.at for each in session.utterances),
                )
                change = Change(cause=Cause.CONSOLIDATION, now=now, session=session.id)
                written = {MemoryKind.LOG.value: SessionLog.objects.write(log, change)}
            run.record(written=written, dropped={})
        return Consolidation(written=written)

    async def begin_session(self, session: UUID, now: datetime) -> Consolidation:
        """Let go of old logs and of what each category has too much of."""
        return await unit(self._tidy, session, now)

    def _tidy(self, session: UUID, now: datetime) -> Consolidation:
        with lab_scope(self.lab_id):
            run = self._claim(session, RunPart.BEGIN, now)
            if run is None:
                return Consolidation()
            expired = SessionLog.objects.expire(
                self.participant_id,
                before=now - timedelta(days=self.values["log_days"]),
                change=Change(cause=Cause.SESSION_START, now=now, session=session),
            )
            evicted = Belief.objects.evict(
                self.participant_id,
                keep=self.values["category_capacity"],
                change=Change(cause=Cause.CAPACITY, now=now, session=session),
            )
            written = {MemoryKind.LOG.value: expired, MemoryKind.BELIEF.value: evicted}
            run.record(written=written, dropped={})
        return Consolidation(written=written)

    def _claim(self, session: UUID, part: RunPart, now: datetime) -> ConsolidationRun | None:
        run: ConsolidationRun | None = ConsolidationRun.objects.claim(
            participant_id=self.participant_id, subject=session, part=part, now=now
        )
        return run


def _grounds(transcript: Transcript, query: str) -> Grounds:
    """What was said in this session by the participant: finished turns, and the present message."""
    current, question = transcript.current, transcript.question
    return Grounds(
        present=Statement(id="" if question is None else str(question.id), text=query),
        before=tuple(as_statements([turn.said for turn in current.turns])),
        session=current.id,
        session_number=current.number,
        stage=current.stage,
    )


def _grounds_of(turn: Turn) -> Grounds:
    return Grounds(
        present=Statement(id=str(turn.said.id), text=turn.said.text),
        session=turn.session,
        session_number=turn.session_number or None,
        stage=turn.stage,
    )
