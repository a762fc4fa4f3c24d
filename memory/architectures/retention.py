"""Retention: a score of importance and use, less the time without, keeps items at hand; the rest
sleeps in an archive until something calls it up (Ebbinghaus 1885; Anderson & Schooler 1991)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from memlab.core.embeddings.base import EmbeddingFailure, Form, Vectors
from memlab.core.tenancy import lab_scope
from memlab.core.values import MemoryReading, Recall, Section, Transcript, Turn
from memlab.core.work import unit
from memory import retained_search, working_set
from memory.architectures.base import (
    NO_EFFECTS,
    NO_QUERY_VECTOR,
    Architecture,
    Consolidation,
    Effects,
)
from memory.architectures.retention_parameters import RETENTION
from memory.architectures.wording import wording
from memory.echoes import without_echoes
from memory.enums import MemoryKind, Ranking, Reason, RunPart
from memory.extraction import ExtractionFailed
from memory.item_extraction import ExtractedItems, extract_items
from memory.item_learning import ItemLearning
from memory.models import ConsolidationRun, RetainedItem
from memory.models.retention_rule import Point, Retention
from memory.retained_search import Cue
from memory.words import words
from memory.working_set import Cued, Sketch, carried

NEAR_MISSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """What a prompt carries: of the working set and of what its message wakes, best score first,
    and what is offered for rehearsal besides."""

    now: Point
    shown: Sequence[Cued[RetainedItem]]
    woken: frozenset[UUID]
    called_up: frozenset[UUID]
    offered: Cued[RetainedItem] | None


class RetentionScore(Architecture):
    """Brings the working set, best score first, as far as its budget of tokens goes.

    Items come from the participant's own messages, turn by turn. What a message calls up by its
    meaning or by a keyword is touched once, with the reply that was made with it: hits + 1, T = 0.
    From the archive at most ``wake_limit`` items come back so, and stand in that very prompt. An
    item whose moment has come counts as archived whether or not maintenance has been there.

    Counted in turns, a turn is over when it has been observed: what was needed in a turn has T = 0
    until the next one is over.
    """

    key = "retention"
    title = _("Retention score")
    parameters = RETENTION
    searches = True
    observes = True
    maintains = True
    seed_instructions = {
        "en": (
            "You have at hand what matters to the user and what often comes up. What is not needed "
            "for a while goes to an archive, and comes back when the user's words touch on it."
        ),
        "zh-hans": (
            "对用户重要的和常常谈到的事，你都记在手边。一段时间没有用到的会移入归档，"
            "用户的话触及时又会回到手边。"
        ),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.retention = Retention.of(self.values)

    # What it brings to a turn

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        cue = await self._cue(query, query_vector)
        loaded = await unit(self._load, transcript, cue, now)
        readings = self._readings(loaded)
        covered = (message for reading in readings for message in reading.message_ids)
        return Recall(
            at=now,
            sections=(*self._context(loaded.shown), *self._offer(loaded.offered)),
            memories=readings,
            strengthens=tuple(each for each in readings if each.reason != Reason.WORKING_SET),
            message_ids=tuple(dict.fromkeys(covered)),
            degraded=() if query_vector is not None else (NO_QUERY_VECTOR,),
            searched=True,
        )

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        """The items nearest to the message that its prompt didn't carry."""
        query = "" if transcript.question is None else transcript.question.text
        shown = [reading.id for reading in recall.memories]
        cue = await self._cue(query, query_vector)
        missed, here = await unit(self._load_missed, cue, shown, now)
        return tuple(
            _reading(each, self._missed_because(each), here, recalled=False) for each in missed
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
        cue = await self._cue(query, query_vector)
        return tuple(item.message_ids[-1] for item in await unit(self._ranked, cue, now, limit))

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        here = self._here(now)
        touched = [each.id for each in recall.strengthens if each.reason != Reason.REHEARSED]
        if touched:
            items = RetainedItem.objects.of_participant(self.participant_id)
            items.archive_due(here)
            # This message's turn is the one after those that are over.
            turn = Point(at=now, turn=here.turn + 1)
            items.touch(touched, retention=self.retention, now=turn, reply=reply)
        for each in recall.strengthens:
            if each.reason == Reason.REHEARSED:
                RetainedItem.objects.rehearse(each.id, at=now, reply=reply)

    async def _cue(self, query: str, vector: NDArray[float32] | None) -> Cue:
        # In a thread, for the first Chinese text of a process loads a dictionary.
        spoken = await asyncio.to_thread(words, query)
        return Cue(
            participant_id=self.participant_id,
            words=spoken,
            vector=vector,
            embedder=self.doors.embedder.id,
            scale=self.setting.scale("query_passage"),
            retention=self.retention,
            wake_relevance=self.values["wake_relevance"],
            by_keyword=self.values["wake_by_keyword"],
            ranking=Ranking(self.values["ranking"]),
            fusion_k=self.values["fusion_k"],
            session_bonus=self.values["session_bonus"],
        )

    def _here(self, now: datetime) -> Point:
        return Point(at=now, turn=ConsolidationRun.objects.turns_of(self.participant_id))

    def _load(self, transcript: Transcript, cue: Cue, now: datetime) -> _Loaded:
        with lab_scope(self.lab_id):
            here = self._here(now)
            budget = self.values["context_budget"]
            at_hand = retained_search.at_hand(cue, here, most=working_set.most_lines(budget))
            woken = retained_search.called_up(cue, here)[: self.values["wake_limit"]]
            chosen = carried(
                at_hand=at_hand,
                woken=woken,
                wake_relevance=self.values["wake_relevance"],
                retention=self.retention,
                budget=budget,
            )
            offered = self._to_offer(transcript.current.started_at, cue, here)
            offers = [] if offered is None else retained_search.in_full([offered])
            return _Loaded(
                now=here,
                shown=retained_search.in_full(chosen.shown),
                woken=chosen.woken,
                called_up=chosen.called_up,
                offered=next(iter(offers), None),
            )

    def _to_offer(self, since: datetime, cue: Cue, now: Point) -> Cued[Sketch] | None:
        """What leaves next, of what was offered least often; None if this session had its offer."""
        items = RetainedItem.objects.of_participant(self.participant_id)
        if not self.values["rehearse"] or items.filter(rehearsed_at__gte=since).exists():
            return None
        offers = retained_search.leaving(cue, now, within=self.values["rehearse_within"])
        return min(offers, key=lambda each: each.item.rehearsals, default=None)

    def _load_missed(
        self, cue: Cue, shown: Sequence[UUID], now: datetime
    ) -> tuple[list[Cued[RetainedItem]], Point]:
        with lab_scope(self.lab_id):
            here = self._here(now)
            return retained_search.nearest(cue, here, limit=NEAR_MISSES, without=shown), here

    def _ranked(self, cue: Cue, now: datetime, limit: int) -> list[RetainedItem]:
        with lab_scope(self.lab_id):
            return retained_search.ranked(cue, self._here(now), limit=limit)

    def _called_up(self, each: Cued[Any]) -> bool:
        return each.called_up(self.values["wake_relevance"])

    def _readings(self, loaded: _Loaded) -> tuple[MemoryReading, ...]:
        offered = None if loaded.offered is None else loaded.offered.item.pk

        def reason(each: Cued[RetainedItem]) -> Reason:
            key = each.item.pk
            if key in loaded.called_up:
                return Reason.WOKEN if key in loaded.woken else Reason.RECALLED
            return Reason.REHEARSED if key == offered else Reason.WORKING_SET

        brought = list(loaded.shown)
        if loaded.offered is not None and loaded.offered not in brought:
            brought.append(loaded.offered)
        return tuple(_reading(each, reason(each), loaded.now, recalled=True) for each in brought)

    def _context(self, shown: Sequence[Cued[RetainedItem]]) -> tuple[Section, ...]:
        lines = tuple(self._line(each) for each in shown)
        title = working_set.title(self.setting.language)
        return (Section(key="context", title=title, lines=lines),) if lines else ()

    def _line(self, each: Cued[RetainedItem]) -> str:
        if not self.setting.provenance_in_prompt:
            return working_set.line(each.item.text)
        relevance = wording(self.setting.language).relevance
        near = "" if each.relevance is None else f"{relevance.format(each.relevance)} "
        return working_set.line(f"[{each.item.stage_key}] {near}{each.item.text}")

    def _offer(self, offered: Cued[RetainedItem] | None) -> tuple[Section, ...]:
        if offered is None:
            return ()
        title = working_set.offer(self.setting.language)
        return (Section(key="rehearsal", title=title, lines=(self._line(offered),)),)

    def _missed_because(self, each: Cued[RetainedItem]) -> Reason:
        if not each.archived:
            return Reason.OVER_BUDGET
        return Reason.BEYOND_LIMIT if self._called_up(each) else Reason.ARCHIVED

    # What a turn adds

    async def observe(self, turn: Turn, now: datetime) -> Consolidation:
        """Items of the participant's message; what they say again is a hit, not a second item."""
        if await unit(self._is_observed, turn):
            return Consolidation()
        try:
            extracted = await extract_items(
                self.doors.extraction, language=self.setting.language, said=[turn.said]
            )
            news, echoes = await without_echoes(
                extracted.items,
                text_of=lambda item: item.text,
                said=[turn.said.text],
                known=await unit(self._texts) if extracted.items else (),
            )
            vectors = await self.doors.embedder.embed([item.text for item in news], Form.PASSAGE)
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        except EmbeddingFailure as failure:
            return Consolidation(degraded=(f"embedding:{failure.kind}",))
        learned = ExtractedItems(items=news, dropped={**extracted.dropped, **echoes})
        return await unit(self._write_turn, turn, learned, vectors, now)

    def _texts(self) -> list[str]:
        with lab_scope(self.lab_id):
            items = RetainedItem.objects.of_participant(self.participant_id)
            return list(items.values_list("text", flat=True))

    def _is_observed(self, turn: Turn) -> bool:
        with lab_scope(self.lab_id):
            parts = ConsolidationRun.objects.parts_of(
                participant_id=self.participant_id, subject=turn.answered.id
            )
            return RunPart.TURN in parts

    def _write_turn(
        self, turn: Turn, extracted: ExtractedItems, vectors: Vectors, now: datetime
    ) -> Consolidation:
        with lab_scope(self.lab_id):
            before = self._here(now)
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id,
                subject=turn.answered.id,
                part=RunPart.TURN,
                now=now,
            )
            if run is None:
                return Consolidation()
            items = RetainedItem.objects.of_participant(self.participant_id)
            items.archive_due(before)
            here = Point(at=now, turn=before.turn + 1)
            learning = ItemLearning(
                participant=self.participant,
                participant_id=self.participant_id,
                retention=self.retention,
                embedder=self.doors.embedder.id,
                duplicate_relevance=self.values["duplicate_relevance"],
                scale=self.setting.scale("passage_passage"),
            )
            learned = learning.learn(turn, extracted.items, vectors, turn_number=here.turn)
            items.archive_due(here)
            written = {MemoryKind.RETAINED.value: learned.stored}
            run.record(
                written=written, dropped={**extracted.dropped, "said_again": learned.said_again}
            )
        return Consolidation(written=written)

    # What time alone does

    def next_maintenance(self) -> datetime | None:
        items = RetainedItem.objects.of_participant(self.participant_id)
        return items.next_leaving()

    async def maintain(self, now: datetime) -> Consolidation:
        archived = await unit(self._archive_due, now)
        return Consolidation(written={"archived": archived} if archived else None)

    def _archive_due(self, now: datetime) -> int:
        with lab_scope(self.lab_id):
            items = RetainedItem.objects.of_participant(self.participant_id)
            return items.archive_due(self._here(now))


def _reading(
    each: Cued[RetainedItem], reason: Reason, now: Point, *, recalled: bool
) -> MemoryReading:
    item = each.item
    return MemoryReading(
        kind=MemoryKind.RETAINED,
        id=item.pk,
        text=item.text,
        recalled=recalled,
        reason=reason,
        relevance=each.relevance,
        elapsed_days=max(0.0, (now.at - item.anchor).total_seconds() / 86400.0),
        score=each.score,
        message_ids=tuple(item.message_ids),
        stage=item.stage_key,
    )
