"""A memory that is regulated like a body: four bins, a log that knows its state, and sleep.

The state moves with every turn and returns by itself (homeostasis); what surprises is kept
(Rescorla & Wagner 1972); sleep consolidates the log and shifts the baselines a little (McClelland,
McNaughton & O'Reilly 1995); what was encoded in a like state comes back more easily (Bower 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from experiments.parameters import Parameter
from memlab.core.embeddings.base import EmbeddingFailure
from memlab.core.llm.tokens import count_tokens
from memlab.core.tenancy import lab_scope
from memlab.core.values import (
    Recall,
    SessionTranscript,
    Turn,
)
from memlab.core.work import unit
from memory.architectures.base import (
    NO_EFFECTS,
    Consolidation,
    Effects,
)
from memory.architectures.homeostatic_encoding import Encoder, Expecting
from memory.architectures.homeostatic_parameters import HOMEOSTATIC
from memory.architectures.homeostatic_recall import HomeostaticRecall
from memory.architectures.homeostatic_rows import Encoded, RowMaker
from memory.architectures.sleeping import Sleeper
from memory.dynamics import Effort
from memory.enums import Bin, MemoryKind, Ranking, RunPart, SleepTrigger
from memory.extraction import ExtractionFailed
from memory.models import BinnedItem, ConsolidationRun, LoggedTurn, RegulatedState
from memory.sleep import Rhythm
from memory.weighing import Weighing

#: Another writer came between reading the expectations and writing what they say of a turn.
OVERTAKEN = "memory:overtaken"
#: So many of the latest facts an extraction is told, so that it doesn't tell them again.
KNOWN_FACTS = 40


class Homeostatic(HomeostaticRecall):
    """Observes turn by turn, and sleeps: at the end of a session, and when time calls for it."""

    key = "homeostatic"
    title = _("Homeostatic memory")
    parameters: ClassVar[Sequence[Parameter]] = HOMEOSTATIC
    searches = True
    observes = True
    consolidates = True
    maintains = True
    seed_instructions = {
        "en": (
            "Your memory keeps apart what you know of the user: facts, what to mind in talking "
            "with them, and what moves them. Facts hold; preferences and boundaries are to be "
            "respected; feelings pass. Where examples of your own manner are given, speak in that "
            "manner."
        ),
        "zh-hans": (
            "你的记忆把关于用户的内容分开保存：事实、与其交谈时要留意的事，以及触动其内心的事。"
            "事实可以采信，偏好与界限应当尊重，情绪会过去。若给出了你自己说话的示例，请沿用那样的语气。"
        ),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.weighing = Weighing.of(self.values)
        self.sleeper = Sleeper(
            participant_id=self.participant_id,
            participant=self.participant,
            dynamics=self.dynamics,
            rhythm=Rhythm.of(self.values),
            weighing=self.weighing,
            time_zone=self.setting.time_zone,
        )

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        """Nothing is strengthened by being recalled; the log will say what was brought."""
        LoggedTurn.objects.note_retrieval(
            participant=self.participant,
            participant_id=self.participant_id,
            reply=reply,
            brought=[each.id for each in recall.memories if each.kind == MemoryKind.BINNED],
            now=now,
        )

    # What a turn adds

    @property
    def encoder(self) -> Encoder:
        return Encoder(
            lab_id=self.lab_id,
            participant_id=self.participant_id,
            model=self.doors.extraction,
            embedder=self.doors.embedder,
            language=self.setting.language,
            high_impact=self.values["high_impact"],
            in_context=self.ranking is Ranking.HYBRID,
        )

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        expecting = await unit(self._before, turn, now)
        if expecting is None:
            return Consolidation()
        try:
            encoded, dropped = await self.encoder.encode(turn, expecting)
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        except EmbeddingFailure as failure:
            return Consolidation(degraded=(f"embedding:{failure.kind}",))
        return await unit(self._write, turn, encoded, expecting, dropped, now)

    def _before(self, turn: Turn, now: datetime) -> Expecting | None:
        """Sleep what sleep was missed, and say what is expected; None if the turn is written."""
        with lab_scope(self.lab_id):
            if RunPart.TURN in ConsolidationRun.objects.parts_of(
                participant_id=self.participant_id, subject=turn.answered.id
            ):
                return None
            self.sleeper.catch_up(now)
            state = RegulatedState.objects.of_participant(self.participant_id)
            facts = BinnedItem.objects.of_participant(self.participant_id).filter(bin=Bin.FACT)
            latest = facts.order_by("-at", "-pk").values_list("text", flat=True)[:KNOWN_FACTS]
            return Expecting(
                reward=0.0 if state is None else state.expected_reward,
                threat=0.0 if state is None else state.expected_threat,
                known=tuple(reversed(latest)),
            )

    def _write(
        self,
        turn: Turn,
        encoded: Encoded,
        expecting: Expecting,
        dropped: Mapping[str, int],
        now: datetime,
    ) -> Consolidation:
        session = turn.session
        if session is None:
            raise ValueError("A homeostatic memory observes turns of sessions only.")
        with lab_scope(self.lab_id):
            state = RegulatedState.objects.begin(
                participant_id=self.participant_id,
                participant=self.participant,
                dynamics=self.dynamics,
                now=now,
            )
            if (state.expected_reward, state.expected_threat) != (
                expecting.reward,
                expecting.threat,
            ):
                return Consolidation(degraded=(OVERTAKEN,))
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id,
                subject=turn.answered.id,
                part=RunPart.TURN,
                now=now,
            )
            if run is None:
                return Consolidation()
            log = self._log(turn, session, encoded, state, now)
            ingested = BinnedItem.objects.ingest(
                self._maker(turn, session).binned(
                    encoded,
                    log,
                    weighing=self.weighing,
                    style_days=self.values["style_days"],
                    embedder=self.doors.embedder.id,
                    now=now,
                ),
                participant_id=self.participant_id,
                capacity={bin_: self.values[f"{bin_.value}_capacity"] for bin_ in Bin},
                now=now,
                reply=turn.answered.id,
            )
            written = {MemoryKind.LOG.value: 1, **ingested.written}
            run.record(written=written, dropped={**dropped, **ingested.dropped})
        return Consolidation(written=written)

    def _log(
        self, turn: Turn, session: UUID, encoded: Encoded, state: RegulatedState, now: datetime
    ) -> LoggedTurn:
        """Let the turn move the state, and log it with the state that it leaves."""
        effort = Effort(tokens=count_tokens(turn.answered.text))
        felt = state.stimulate(
            encoded.appraised.appraisal,
            effort,
            dynamics=self.dynamics,
            now=now,
            reply=turn.answered.id,
            session=session,
        )
        log = self._maker(turn, session).logged(
            encoded.appraised,
            felt=felt,
            state=state.anchored(),
            effort=effort,
            retrieved=LoggedTurn.objects.retrieved_for(
                participant=self.participant, reply=turn.answered.id
            ),
            high_impact=self.values["high_impact"],
            now=now,
        )
        LoggedTurn.objects.log(log, now=now)
        return log

    def _maker(self, turn: Turn, session: UUID) -> RowMaker:
        return RowMaker(
            lab_id=self.lab_id,
            participant_id=self.participant_id,
            participant=self.participant,
            session=session,
            turn=turn,
        )

    # Sleep

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        """Sleep at the end of a session, once."""
        return await unit(self._sleep_at_end, session.id, now)

    def next_maintenance(self) -> datetime | None:
        return self.sleeper.next_due()

    async def maintain(self, now: datetime) -> Consolidation:
        return await unit(self._catch_up, now)

    async def consolidate_by_hand(self, now: datetime) -> Consolidation:
        return await self.sleep(now, SleepTrigger.BY_HAND)

    async def sleep(self, now: datetime, trigger: SleepTrigger) -> Consolidation:
        """Sleep what sleep was missed, then once more for ``trigger``, if anything is left."""
        return await unit(self._sleep, now, trigger)

    def _sleep_at_end(self, session: UUID, now: datetime) -> Consolidation:
        with lab_scope(self.lab_id):
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id, subject=session, part=RunPart.SLEEP, now=now
            )
            if run is None:
                return Consolidation()
            outcome = self._sleep(now, SleepTrigger.SESSION_END)
            run.record(written=outcome.written or {}, dropped={})
        return outcome

    def _catch_up(self, now: datetime) -> Consolidation:
        with lab_scope(self.lab_id):
            return Consolidation(written=self.sleeper.catch_up(now))

    def _sleep(self, now: datetime, trigger: SleepTrigger) -> Consolidation:
        with lab_scope(self.lab_id):
            done = self.sleeper.catch_up(now)
            if self.sleeper.sleep(now, trigger):
                done["sleep"] = done.get("sleep", 0) + 1
            return Consolidation(written=done)
