"""A scripted model that extracts, shortens and merges, and vectors of exact similarity."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from memlab.core.values import Prompt, PromptTask
from tests.doors import Answer


def told(**fields: Any) -> Answer:
    """Every message is one statement, in its own words; ``fields`` replace what it says of it."""

    def answer(prompt: Prompt) -> str:
        return json.dumps(
            {
                "statements": [
                    {
                        "message": each.id,
                        "text": each.text,
                        "topic": each.text.split()[-1],
                        "tags": [{"dimension": "said", "value": each.text.split()[-1]}],
                    }
                    | fields
                    for each in prompt.material
                ]
            }
        )

    return answer


def summarised(prompt: Prompt) -> str:
    """The first three words of each."""
    shortened = [
        {"id": each.id, "text": " ".join(each.text.split()[:3])} for each in prompt.material
    ]
    return json.dumps({"summaries": shortened})


def joined(prompt: Prompt) -> str:
    """Both texts, with the topic and tag of what is said now."""
    earlier, now = (each.text for each in prompt.material)
    tag = {"dimension": "said", "value": now.split()[-1]}
    item = {"text": f"{earlier} + {now}", "topic": now.split()[-1], "tags": [tag]}
    return json.dumps({"merged": [item]})


ANSWERS: dict[PromptTask, Answer] = {
    PromptTask.EXTRACT_STATEMENTS: told(),
    PromptTask.SUMMARISE: summarised,
    PromptTask.MERGE_STATEMENTS: joined,
}


def axis(number: int, dimensions: int = 8) -> list[float]:
    return [float(place == number) for place in range(dimensions)]


def near(vector: Sequence[float], similarity: float, free: int) -> list[float]:
    """A unit vector with this cosine to another one, the rest of it along the axis ``free``."""
    moved = [similarity * each for each in vector]
    moved[free] += math.sqrt(1.0 - similarity**2)
    return moved
