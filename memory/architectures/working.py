"""L2, working memory (Miller 1956): the last seven turns, older ones are displaced."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from experiments.parameters import Parameter
from memlab.core.values import Recall, Transcript
from memory.architectures.base import Architecture
from memory.architectures.rendering import message_ids_of, turns_section
from memory.architectures.wording import wording


class Working(Architecture):
    """Brings the last ``turns`` finished turns of earlier sessions, word for word."""

    key = "working"
    title = _("L2 · Working memory")
    parameters = (
        Parameter(
            name="turns",
            default=7,
            minimum=1,
            maximum=200,
            unit="turns",
            help_en="How many of the last turns of earlier sessions are kept, word for word.",
            help_zh="保留以往会话最后多少轮的原话。",
            source="Miller (1956): seven, plus or minus two",
        ),
    )
    seed_instructions = {
        "en": (
            "You remember only the last few turns of conversation, about seven. What was said "
            "before them has dropped out of your memory."
        ),
        "zh-hans": "你只记得最近大约七轮对话，更早说过的话已经不在你的记忆里了。",
    }

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        turns = list(transcript.earlier_turns())[-self.values["turns"] :]
        words = wording(self.setting.language)
        return Recall(
            at=now,
            sections=turns_section(
                turns,
                key="recent_turns",
                title=words.recent,
                wording=words,
                provenance=self.setting.provenance_in_prompt,
            ),
            message_ids=tuple(message_ids_of(turns)),
        )
