"""How a homeostatic memory takes a turn: appraised first, then gone through for items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy import float32
from numpy.typing import NDArray

from memlab.core.embeddings.base import Embedder, Form, Vectors
from memlab.core.llm.base import LanguageModel
from memlab.core.tenancy import lab_scope
from memlab.core.values import (
    Turn,
)
from memlab.core.work import unit
from memory.appraisal import ExtractedItem, appraise, extract_items
from memory.architectures.homeostatic_rows import Encoded, in_context
from memory.dynamics import surprise_of
from memory.echoes import without_echoes
from memory.enums import Bin
from memory.models import BinnedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Expecting:
    """What is expected of the next turn, and which facts need no telling again."""

    reward: float
    threat: float
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Asks the models. From |RPE| above ``high_impact`` on a turn fills all four bins, else facts
    alone; ``in_context`` says whether items are embedded together with their message, too."""

    lab_id: int
    participant_id: int
    model: LanguageModel
    embedder: Embedder
    language: str
    high_impact: float
    in_context: bool

    async def encode(self, turn: Turn, expecting: Expecting) -> tuple[Encoded, Mapping[str, int]]:
        """How a turn is taken and what it leaves, and what of the answers was dropped, by reason.

        Raises ExtractionFailed, EmbeddingFailure.
        """
        appraised = await appraise(self.model, language=self.language, said=turn.said)
        felt = surprise_of(appraised.appraisal, expecting.reward, expecting.threat)
        extracted = await extract_items(
            self.model,
            language=self.language,
            turn=turn,
            bins=tuple(Bin) if felt.magnitude > self.high_impact else (Bin.FACT,),
            known=expecting.known,
        )
        items, echoes = await self._news(extracted.items, turn)
        vectors = await self._embed([item.text for item in items])
        context: Sequence[NDArray[float32] | None] = [None] * len(items)
        if self.in_context:
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
        return await self.embedder.embed(texts, Form.PASSAGE) if texts else []
