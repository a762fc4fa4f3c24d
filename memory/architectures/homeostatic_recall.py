"""What a homeostatic memory brings to a turn, and what it finds. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from numpy import float32
from numpy.typing import NDArray

from memlab.core.tenancy import lab_scope
from memlab.core.values import (
    MemoryReading,
    Recall,
    Section,
    Transcript,
)
from memlab.core.work import unit
from memory import binned_search
from memory.architectures.base import (
    NO_QUERY_VECTOR,
    Architecture,
)
from memory.architectures.homeostatic_prompt import (
    behaviour_section,
    bin_sections,
    bin_wording,
    example_section,
    fits,
    summary_section,
)
from memory.architectures.wording import wording
from memory.binned_search import Found, Query, Weights
from memory.dynamics import Dynamics
from memory.enums import Bin, Ranking, Reason
from memory.formulas import regulation
from memory.formulas.regulation import State
from memory.models import LoggedTurn, RegulatedState
from memory.ranking import fused
from memory.words import words

NEAR_MISSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What the rows bring to a turn: the present state, items, and the turns of style items."""

    state: State
    items: tuple[Found, ...]
    examples: tuple[LoggedTurn, ...]


class HomeostaticRecall(Architecture):
    """Brings the items of each bin that score best for the query and the present state; examples
    of style only if drive is low or alertness high."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dynamics = Dynamics.of(self.values)
        self.weights = Weights.of(self.values)
        self.ranking = Ranking(self.values["ranking"])

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
            relevance=self.setting.scale("query_passage"),
        )

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
