"""The control yoked to ``hybrid``: as many episodes, but drawn at random."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from datetime import datetime

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from memlab.core.tenancy import lab_scope
from memlab.core.values import Recall, Transcript
from memlab.core.work import unit
from memory import search
from memory.architectures.hybrid import Hybrid
from memory.enums import Reason
from memory.models import Trait
from memory.search import Found, Query


class RandomRecall(Hybrid):
    """Brings as many episodes as ``hybrid`` would recall now, drawn from all of them.

    What is strengthened are those that ``hybrid`` would have recalled, so that the counts of the
    two arms stay yoked. The draw depends on the conversation alone (when it began, session, turn
    and message), not on the ids of rows: asking again, or replaying it, gives the same.
    """

    key = "random_recall"
    title = _("Control · Random recall")

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        if query_vector is None:
            return await super().recall(transcript, query, query_vector, now)
        asked = await self._query(transcript, query, query_vector, now)
        current = transcript.current
        began = (*transcript.earlier, current)[0].started_at
        seed = f"{began.isoformat()}:{current.number}:{len(current.turns)}:{query}"
        traits, yoked, drawn = await unit(self._load_drawn, asked, seed)
        recall = self._with_episodes(self._gist(transcript, traits, now), drawn, Reason.DRAWN)
        return replace(recall, strengthens=self._readings(yoked, Reason.RECALLED, recalled=False))

    def _load_drawn(self, asked: Query, seed: str) -> tuple[list[Trait], list[Found], list[Found]]:
        with lab_scope(self.lab_id):
            traits, yoked = self._load(asked)
            if not yoked:
                return traits, [], []
            draw = random.Random(hashlib.sha256(seed.encode()).digest())
            chosen = draw.sample(search.earlier(asked), len(yoked))
            return traits, yoked, search.read(asked, chosen)

    def _missed_because(self, episode: Found) -> Reason:
        return Reason.NOT_DRAWN
