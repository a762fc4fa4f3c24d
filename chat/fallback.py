"""The reply of a study's talking model, or of its fallback where that one fails before a word.

The fallback changes the partner, so a study has none unless its staff choose one, and each use is
kept as a deviation from the protocol. It is asked while nothing has been shown and no tool called:
what comes then is one model's reply, made with the memory of the same recall.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from chat.streaming import Answer
from chat.tool_loop import Toolbox, talked
from experiments.doors import StudyDoors
from memlab.core.llm.base import WORTH_ANOTHER_MODEL, ModelFailure, Sampling
from memlab.core.values import Prompt

logger = logging.getLogger(__name__)


async def answered(
    doors: StudyDoors,
    prompt: Prompt,
    sampling: Sampling,
    answer: Answer,
    toolbox: Toolbox | None = None,
) -> AsyncGenerator[str, None]:
    """Yield the reply's text and note in ``answer`` how it went, as ``talked`` does.

    The fallback gets the tries of a model of its own. Raises ModelFailure: the fallback's if it
    was asked.
    """
    try:
        async with aclosing(talked(doors.talking, prompt, sampling, answer, toolbox)) as pieces:
            async for piece in pieces:
                yield piece
        return
    except ModelFailure as failure:
        if doors.fallback is None or not _may_fall_back(answer, failure):
            raise
        logger.warning("%s failed, its fallback is asked: %s", doors.talking.model, failure)
        answer.fell_back = failure.kind
    async with aclosing(talked(doors.fallback, prompt, sampling, answer, toolbox)) as pieces:
        async for piece in pieces:
            yield piece


def _may_fall_back(answer: Answer, failure: ModelFailure) -> bool:
    """Whether another model could mend it, and nothing has been shown and no tool called."""
    return failure.kind in WORTH_ANOTHER_MODEL and not answer.text and not answer.completions
