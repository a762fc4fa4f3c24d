"""Storing what a turn says: new items, and items said again. Call inside a ``lab_scope``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from memlab.core.embeddings.base import Vectors
from memlab.core.values import Turn
from memory.item_extraction import ExtractedItem
from memory.models import RetainedItem
from memory.models.retained import Worded, item_id
from memory.models.retention_rule import Point, Retention
from memory.relevance import relevance_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """How many items were stored, and how many were said again."""

    stored: int
    said_again: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLearning:
    """One participant's items, and when two statements count as one.

    ``scale`` maps the cosine of two passages to r; from ``duplicate_relevance`` on the later one
    is the earlier said again.
    """

    participant: UUID
    participant_id: int
    retention: Retention
    embedder: str
    duplicate_relevance: float
    scale: CalibrationPoint

    def learn(
        self, turn: Turn, items: Sequence[ExtractedItem], vectors: Vectors, *, turn_number: int
    ) -> Learned:
        """Store a turn's items at the time of its message. An item that this turn has already
        touched is not touched again by being said again."""
        reply, here = turn.answered.id, Point(at=turn.said.at, turn=turn_number)
        rows = RetainedItem.objects.of_participant(self.participant_id)
        touched = set(rows.touched_by(reply))
        restated: set[UUID] = set()
        new: list[RetainedItem] = []
        for item, vector in zip(items, vectors, strict=True):
            said = Worded(text=item.text, keywords=item.keywords, vector=vector)
            known = self._said_before(vector)
            if known is None:
                if not any(self._same(vector, each.vector) for each in new):
                    new.append(self._item(turn, item, said, here))
            elif known not in restated:
                access = None if known in touched else self.retention
                rows.restate(
                    known, said, message=item.message, access=access, now=here, reply=reply
                )
                restated.add(known)
        stored = RetainedItem.objects.encode(new, now=here.at, reply=reply)
        return Learned(stored=stored, said_again=len(items) - stored)

    def _said_before(self, vector: NDArray[float32]) -> UUID | None:
        """The item that says the same, wherever it is kept."""
        items = RetainedItem.objects.of_participant(self.participant_id)
        nearest = items.nearest_to(vector, embedder=self.embedder)
        if nearest is None:
            return None
        item, cosine = nearest
        return item if relevance_of(cosine, self.scale) >= self.duplicate_relevance else None

    def _same(self, one: NDArray[float32], other: NDArray[float32]) -> bool:
        return relevance_of(float(one @ other), self.scale) >= self.duplicate_relevance

    def _item(self, turn: Turn, item: ExtractedItem, said: Worded, here: Point) -> RetainedItem:
        assert turn.session is not None, "What is observed was said in a session."
        row = RetainedItem(
            id=item_id(participant=self.participant, message=item.message, text=item.text),
            participant_id=self.participant_id,
            session_id=turn.session,
            session_number=turn.session_number,
            stage_key=turn.stage,
            importance=item.importance,
            anchor=here.at,
            anchor_turn=here.turn,
            encoded_at=here.at,
            embedder=self.embedder,
            message_ids=[item.message],
        )
        row.word(said)
        row.set_leaving(self.retention)
        return row
