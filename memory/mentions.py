"""What the statements of a session do to the memories that there are, one after the other.

Worked out on unsaved rows: the models that it takes are called outside any transaction, and what
comes of it is written at once, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from memlab.core.embeddings.base import Embedder, Form
from memlab.core.llm.base import LanguageModel
from memlab.core.values import SessionTranscript, Utterance
from memory.formulas.compression import Level, MergeStrategy
from memory.models import Compressible, MemoryEvent
from memory.models.content import TEXT_CHARACTERS, Content, Mention, compressible_id
from memory.models.ladder import Ladder
from memory.statements import ExtractedStatement, merge


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """To whom new rows belong, in what language, and how similarity is read from a cosine."""

    lab_id: int
    participant_id: int
    participant: UUID
    language: str
    relevance: CalibrationPoint
    ladder: Ladder


@dataclass(slots=True, kw_only=True)
class Mentions:
    """The rows of a participant, changed in memory, with the events of what was changed.

    ``rows`` are those of one embedder; ``read`` says of which revision they were.
    """

    whose: Whose
    session: SessionTranscript
    rows: list[Compressible]
    created: list[Compressible] = field(default_factory=list)
    changed: dict[UUID, Compressible] = field(default_factory=dict)
    events: list[MemoryEvent] = field(default_factory=list)
    read: dict[UUID, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.read = {row.pk: row.revision for row in self.rows}

    async def take(
        self,
        statement: ExtractedStatement,
        vector: NDArray[float32],
        said: Utterance,
        *,
        model: LanguageModel,
        embedder: Embedder,
    ) -> None:
        """Merge a statement with the memory most like it, or keep it beside, or as new.

        Where the merged memory can't hold the statement's text, because its level has none or it
        has no room, the statement becomes a memory of its own as well: nothing said is lost.
        Raises ExtractionFailed or EmbeddingFailure.
        """
        match = self._most_similar(vector)
        if match is None:
            self._create(statement, vector, said, embedder, {"strategy": "create_new"})
            return
        row, similarity = match
        mention = Mention(
            message=said.id, session=self.session.id, at=said.at, similarity=similarity
        )
        decision = self.whose.ladder.decide(similarity)
        if decision.strategy is MergeStrategy.MERGE_UPDATE:
            held = await self._merge(row, mention, statement.content, model, embedder)
            if held:
                return
        elif self.whose.ladder.boost_without_merge:
            self._note(row, row.remind(mention, ladder=self.whose.ladder))
        note = {**self.whose.ladder.noted(similarity), "compared_with": str(row.pk)}
        self._create(statement, vector, said, embedder, note)

    def _most_similar(self, vector: NDArray[float32]) -> tuple[Compressible, float] | None:
        """The memory most like a statement and its similarity, of equals the latest activated."""
        if not self.rows:
            return None
        point = self.whose.relevance
        cosines = np.asarray([row.vector for row in self.rows], dtype=np.float64) @ vector
        relevance = np.clip((cosines - point.low) / (point.high - point.low), 0.0, 1.0)
        ranked = zip(relevance.tolist(), cosines.tolist(), self.rows, strict=True)
        similarity, _cosine, row = max(
            ranked, key=lambda each: (*each[:2], each[2].activated_at, each[2].pk)
        )
        return row, similarity

    async def _merge(
        self,
        row: Compressible,
        mention: Mention,
        content: Content,
        model: LanguageModel,
        embedder: Embedder,
    ) -> bool:
        """Merge; whether the row now holds the text of both."""
        merged, vector = await self._merged(row, content, model, embedder)
        self._note(row, row.merge(mention, merged, vector, ladder=self.whose.ladder))
        return merged is not None and Level(row.level).holds_text

    async def _merged(
        self, row: Compressible, content: Content, model: LanguageModel, embedder: Embedder
    ) -> tuple[Content | None, NDArray[float32] | None]:
        """What row and statement say together, with its vector; None where there is no room.

        A trace and an archived memory have nothing left to say: the statement says it all.
        """
        if len(row.text) + len(content.text) + 2 > TEXT_CHARACTERS:
            return None, None
        if Level(row.level) in (Level.TRACE, Level.ARCHIVE):
            merged = content
        else:
            merged = await merge(
                model, language=self.whose.language, earlier=row.text, now=content.text
            )
        return merged, (await embedder.embed([merged.text], Form.PASSAGE))[0]

    def _create(
        self,
        statement: ExtractedStatement,
        vector: NDArray[float32],
        said: Utterance,
        embedder: Embedder,
        note: dict[str, object],
    ) -> None:
        content = statement.content
        row = Compressible(
            id=compressible_id(
                participant=self.whose.participant, message=said.id, text=content.text
            ),
            lab_id=self.whose.lab_id,
            participant_id=self.whose.participant_id,
            session_id=self.session.id,
            session_number=self.session.number,
            stage_key=self.session.stage,
            language=self.whose.language,
            embedder=embedder.id,
            vector=vector,
            message_ids=[said.id],
        )
        ladder = self.whose.ladder
        self.events.append(row.create(content, ladder=ladder, at=said.at, note=note))
        self.rows.append(row)
        self.created.append(row)

    def _note(self, row: Compressible, event: MemoryEvent) -> None:
        self.events.append(event)
        if row.pk in self.read:
            self.changed[row.pk] = row
