"""A memory that is regulated like a body: four bins, a log that knows its state, and sleep.

The state moves with every turn and returns by itself (homeostasis); what surprises is kept
(Rescorla & Wagner 1972); sleep consolidates the log and shifts the baselines a little (McClelland,
McNaughton & O'Reilly 1995); what was encoded in a like state comes back more easily (Bower 1981).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from experiments.enums import RelevanceScale
from experiments.parameters import Parameter
from memlab.core.embeddings.base import EmbeddingFailure, Form, Vectors
from memlab.core.llm.tokens import count_tokens
from memlab.core.tenancy import lab_scope
from memlab.core.values import (
    MemoryReading,
    Recall,
    Section,
    SessionTranscript,
    Transcript,
    Turn,
)
from memlab.core.work import unit
from memory import binned_search
from memory.appraisal import ExtractedItem, appraise, extract_items
from memory.architectures.base import (
    NO_EFFECTS,
    NO_QUERY_VECTOR,
    Architecture,
    Consolidation,
    Effects,
)
from memory.architectures.homeostatic_parameters import HOMEOSTATIC
from memory.architectures.homeostatic_prompt import (
    behaviour_section,
    bin_sections,
    bin_wording,
    example_section,
    fits,
    summary_section,
)
from memory.architectures.homeostatic_rows import Encoded, RowMaker, in_context
from memory.architectures.sleeping import Sleeper
from memory.architectures.wording import wording
from memory.binned_search import Found, Query, Weights
from memory.dynamics import Dynamics, Effort, surprise_of
from memory.echoes import without_echoes
from memory.enums import Bin, MemoryKind, Ranking, Reason, RunPart, SleepTrigger
from memory.extraction import ExtractionFailed
from memory.formulas import regulation
from memory.formulas.regulation import State
from memory.models import BinnedItem, ConsolidationRun, LoggedTurn, RegulatedState
from memory.ranking import fused
from memory.search import RAW
from memory.sleep import Rhythm
from memory.weighing import Weighing
from memory.words import words

NEAR_MISSES = 20
#: Another writer came between reading the expectations and writing what they say of a turn.
OVERTAKEN = "memory:overtaken"
#: So many of the latest facts an extraction is told, so that it doesn't tell them again.
KNOWN_FACTS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What the rows bring to a turn: the present state, items, and the turns of style items."""

    state: State
    items: tuple[Found, ...]
    examples: tuple[LoggedTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expecting:
    """What is expected of the next turn, and which facts need no telling again."""

    reward: float
    threat: float
    known: tuple[str, ...]


class Homeostatic(Architecture):
    """Brings the items of each bin that score best for the query and the present state; examples
    of style only if drive is low or alertness high."""

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
        self.dynamics = Dynamics.of(self.values)
        self.weighing = Weighing.of(self.values)
        self.weights = Weights.of(self.values)
        self.ranking = Ranking(self.values["ranking"])
        self.sleeper = Sleeper(
            participant_id=self.participant_id,
            participant=self.participant,
            dynamics=self.dynamics,
            rhythm=Rhythm.of(self.values),
            weighing=self.weighing,
            time_zone=self.setting.time_zone,
        )

    # What it brings to a turn

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        brought = await unit(self._load, transcript, query, query_vector, now)
        style, covered = self._style(brought)
        shown = [item for item in brought.items if item.bin is not Bin.STYLE]
        sections = bin_sections(
            shown,
            words=bin_wording(self.setting.language),
            wording=wording(self.setting.language),
            provenance=self.setting.provenance_in_prompt,
        )
        messages = [message for item in shown for message in item.message_ids]
        return Recall(
            at=now,
            sections=(*sections, *style, *self._behaviour(brought.state)),
            memories=tuple(
                item.reading(
                    Reason.EXAMPLE if item.bin is Bin.STYLE else Reason.RECALLED,
                    recalled=True,
                    weights=self.weights,
                )
                for item in brought.items
            ),
            message_ids=tuple(dict.fromkeys([*messages, *covered])),
            degraded=(NO_QUERY_VECTOR,) if query_vector is None else (),
            searched=query_vector is not None,
        )

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        if query_vector is None:
            return ()
        brought = [reading.id for reading in recall.memories]
        state, missed = await unit(self._load_missed, transcript, query_vector, now, brought)
        return tuple(
            item.reading(self._missed_because(item, state), recalled=False, weights=self.weights)
            for item in missed
        )

    async def ranked(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32],
        now: datetime,
        *,
        limit: int,
    ) -> tuple[UUID, ...]:
        found = await unit(self._load_ranked, transcript, query, query_vector, now, limit)
        return tuple(dict.fromkeys(item.message_ids[-1] for item in found))

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

    def _load(
        self, transcript: Transcript, query: str, vector: NDArray[float32] | None, now: datetime
    ) -> Brought:
        with lab_scope(self.lab_id):
            asked = self._query(transcript, vector, now)
            items = self._found(asked, query)
            logs = [item.log_id for item in items if item.bin is Bin.STYLE]
            turns = {turn.pk: turn for turn in LoggedTurn.objects.filter(pk__in=logs)}
            return Brought(
                state=asked.state,
                items=tuple(items),
                examples=tuple(turns[log] for log in dict.fromkeys(logs)),
            )

    def _found(self, asked: Query, text: str) -> list[Found]:
        limits = {
            Bin.FACT: self.values["fact_limit"],
            Bin.RELATION: self.values["relation_limit"],
            Bin.AFFECT: self.values["affect_limit"],
            Bin.STYLE: self.values["style_examples"] if self._calls_for_style(asked.state) else 0,
        }
        if self.ranking is Ranking.DENSE or asked.vector is None:
            return binned_search.recall(asked, limits=limits)
        # Words order the facts that pass; what else is brought doesn't depend on the query.
        order = self._fused(asked, text, [Bin.FACT], least=self.weights.fact_threshold)
        facts = binned_search.read(asked, order[: limits[Bin.FACT]])
        return [*facts, *binned_search.recall(asked, limits=limits | {Bin.FACT: 0})]

    def _fused(
        self, asked: Query, text: str, bins: Sequence[Bin], *, least: float = -1.0
    ) -> list[UUID]:
        return fused(
            binned_search.candidates(asked, bins=bins, least=least),
            words(text),
            k=self.values["fusion_k"],
            session_bonus=self.values["session_bonus"],
        )

    def _load_missed(
        self,
        transcript: Transcript,
        vector: NDArray[float32],
        now: datetime,
        brought: Sequence[UUID],
    ) -> tuple[State, list[Found]]:
        with lab_scope(self.lab_id):
            asked = self._query(transcript, vector, now)
            return asked.state, binned_search.nearest(asked, limit=NEAR_MISSES, without=brought)

    def _load_ranked(
        self,
        transcript: Transcript,
        text: str,
        vector: NDArray[float32],
        now: datetime,
        limit: int,
    ) -> list[Found]:
        with lab_scope(self.lab_id):
            asked = self._query(transcript, vector, now)
            if self.ranking is Ranking.DENSE:
                return binned_search.nearest(asked, limit=limit)
            return binned_search.read(asked, self._fused(asked, text, list(Bin))[:limit])

    def _query(
        self, transcript: Transcript, vector: NDArray[float32] | None, now: datetime
    ) -> Query:
        row = RegulatedState.objects.of_participant(self.participant_id)
        return Query(
            participant_id=self.participant_id,
            session=transcript.current.id,
            embedder=self.doors.embedder.id,
            vector=vector,
            # Before the first turn of all nothing has moved.
            state=self.dynamics.start if row is None else row.at(now, self.dynamics),
            now=now,
            weights=self.weights,
            relevance=self._relevance(),
        )

    def _relevance(self) -> CalibrationPoint:
        """The cosines of r = 0 and r = 1 for a question and what may answer it."""
        if self.setting.relevance is RelevanceScale.RAW:
            return RAW
        return self.setting.calibrations["query_passage"]

    def _calls_for_style(self, state: State) -> bool:
        return bool(state.da < self.values["da_low"] or state.ne > self.values["ne_high"])

    def _style(self, brought: Brought) -> tuple[list[Section], list[UUID]]:
        """Examples of style if they keep to the budget, else their summary; and the messages that
        they bring back word for word."""
        words_, budget = bin_wording(self.setting.language), self.values["style_tokens"]
        examples = example_section(
            brought.examples, words=words_, wording=wording(self.setting.language)
        )
        if examples is None:
            return [], []
        if fits(examples, budget):
            return [examples], [each for turn in brought.examples for each in turn.message_ids]
        styles = [item for item in brought.items if item.bin is Bin.STYLE]
        summary = summary_section(styles, words=words_, tokens=budget)
        return ([] if summary is None else [summary]), []

    def _behaviour(self, state: State) -> list[Section]:
        if not self.values["express_behaviour"]:
            return []
        return [
            behaviour_section(
                regulation.behaviour(state=state),
                words=bin_wording(self.setting.language),
                wording=wording(self.setting.language),
            )
        ]

    def _missed_because(self, item: Found, state: State) -> Reason:
        if item.bin is Bin.STYLE and not self._calls_for_style(state):
            return Reason.NOT_CALLED_FOR
        if item.bin is Bin.FACT and (item.relevance or 0.0) <= self.weights.fact_threshold:
            return Reason.BELOW_THRESHOLD
        return Reason.BEYOND_LIMIT

    # What a turn adds

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        expecting = await unit(self._before, turn, now)
        if expecting is None:
            return Consolidation()
        try:
            encoded, dropped = await self._encode(turn, expecting)
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

    async def _encode(self, turn: Turn, expecting: Expecting) -> tuple[Encoded, Mapping[str, int]]:
        """How a turn is taken and what it leaves. Raises ExtractionFailed, EmbeddingFailure."""
        model, language = self.doors.extraction, self.setting.language
        appraised = await appraise(model, language=language, said=turn.said)
        felt = surprise_of(appraised.appraisal, expecting.reward, expecting.threat)
        high = felt.magnitude > self.values["high_impact"]
        extracted = await extract_items(
            model,
            language=language,
            turn=turn,
            bins=tuple(Bin) if high else (Bin.FACT,),
            known=expecting.known,
        )
        items, echoes = await self._news(extracted.items, turn)
        vectors = await self._embed([item.text for item in items])
        context: Sequence[NDArray[float32] | None] = [None] * len(items)
        if self.ranking is Ranking.HYBRID:
            context = list(await self._embed([in_context(each, turn) for each in items]))
        encoded = Encoded(
            appraised=appraised, items=items, vectors=list(vectors), in_context=context
        )
        dropped = {f"appraisal:{reason}": n for reason, n in appraised.dropped.items()}
        return encoded, dropped | dict(extracted.dropped) | echoes

    async def _news(
        self, items: Sequence[ExtractedItem], turn: Turn
    ) -> tuple[tuple[ExtractedItem, ...], dict[str, int]]:
        """The items without echoes of what an extraction is shown beside the message: known facts
        and the reply. In how the agent spoke a fact has no place at all, whoever said it."""
        known = await unit(self._facts) if items else ()
        of_agent = [item for item in items if item.bin is Bin.STYLE]
        of_person = [item for item in items if item.bin is not Bin.STYLE]
        told, told_echoes = await without_echoes(
            of_person,
            text_of=lambda item: item.text,
            said=[turn.said.text],
            known=[*known, turn.answered.text],
        )
        style, style_echoes = await without_echoes(
            of_agent, text_of=lambda item: item.text, said=(), known=known
        )
        return (*told, *style), dict(Counter(told_echoes) + Counter(style_echoes))

    def _facts(self) -> list[str]:
        with lab_scope(self.lab_id):
            facts = BinnedItem.objects.of_participant(self.participant_id).filter(bin=Bin.FACT)
            return list(facts.values_list("text", flat=True))

    async def _embed(self, texts: list[str]) -> Vectors | list[NDArray[float32]]:
        return await self.doors.embedder.embed(texts, Form.PASSAGE) if texts else []

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
