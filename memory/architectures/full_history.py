"""The control that forgets nothing: every earlier turn, as far as the context budget goes."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from memlab.core.llm.tokens import count_tokens
from memlab.core.values import Recall, Transcript
from memory.architectures.base import Architecture
from memory.architectures.rendering import (
    EarlierTurn,
    message_ids_of,
    turn_lines,
    turns_section,
)
from memory.architectures.wording import Wording, wording


class FullHistory(Architecture):
    """Brings all earlier turns within the study's ``context_tokens``: an upper bound.

    Turns are taken newest first until one doesn't fit, so that what is missing is the oldest; the
    prompt has them in the order in which they were said, for that is how a model reads a dialogue.
    """

    key = "full_history"
    title = _("Control · Full history")
    seed_instructions = {
        "en": "You have everything the two of you said in earlier conversations before you.",
        "zh-hans": "你与用户在以往对话中说过的话，都完整地摆在你面前。",
    }

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        words = wording(self.setting.language)
        turns = self._within_budget(list(transcript.earlier_turns()), words)
        return Recall(
            at=now,
            sections=turns_section(
                turns,
                key="history",
                title=words.history,
                wording=words,
                provenance=self.setting.provenance_in_prompt,
            ),
            message_ids=tuple(message_ids_of(turns)),
        )

    def _within_budget(self, turns: list[EarlierTurn], words: Wording) -> list[EarlierTurn]:
        left, first = self.setting.context_tokens, len(turns)
        for turn in reversed(turns):
            lines = turn_lines(turn, wording=words, provenance=False)
            left -= sum(count_tokens(line) for line in lines)
            if left < 0:
                break
            first -= 1
        return turns[first:]
