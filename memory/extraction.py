"""Asking a language model what was said: traits of the profile, and emotional salience.

A model's answer is never trusted. What doesn't fit is dropped and counted by reason; an answer
that isn't JSON gets one attempt at repair; and whatever fails for good raises
``ExtractionFailed``, so that the session is marked degraded and the step is tried again. Nothing
is ever made up in place of an answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memlab.core.llm.base import LanguageModel, ModelFailure, Sampling
from memlab.core.values import Prompt, Statement, Utterance
from memory.answers import json_object, storable
from memory.enums import ProfilePart
from memory.extraction_prompts import profile_prompt, repair_prompt, salience_prompt
from memory.models.profile import EMOTION_CHARACTERS, KEY_CHARACTERS, TRAIT_CHARACTERS

#: What one call is asked about at most.
BATCH_STATEMENTS = 20
BATCH_CHARACTERS = 6000
#: More traits than this from one call are not extraction but noise.
MOST_TRAITS = 40

# The same transcript should give the same memories, as far as a model allows.
_SAMPLING = Sampling(temperature=0.0)


class ExtractionFailed(Exception):
    """The model gave no usable answer; ``code`` names the reason, e.g. ``extraction:timeout``."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedTrait:
    """A trait as the model worded it, checked, with the message it comes from."""

    dimension: ProfilePart
    key: str
    text: str
    emotion: str
    message: UUID

    def worded(self) -> str:
        """As the next call is told that it is known."""
        return f"{self.dimension.value}: {f'{self.key}: ' if self.key else ''}{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """Three ratings of one message, each in [0, 1]."""

    intensity: float
    self_disclosure: float
    value_relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedProfile:
    traits: tuple[ExtractedTrait, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSalience:
    ratings: Mapping[UUID, Rating]
    dropped: Mapping[str, int] = field(default_factory=dict)


async def extract_profile(
    model: LanguageModel,
    *,
    language: str,
    said: Sequence[Utterance],
    known: Sequence[str],
    dimensions: Sequence[ProfilePart],
) -> ExtractedProfile:
    """What a participant's own messages newly tell about them.

    ``known`` are the traits known so far, as ``ExtractedTrait.worded`` words them; a later batch
    is told what an earlier one found. Raises ExtractionFailed.
    """
    traits: list[ExtractedTrait] = []
    dropped: Counter[str] = Counter()
    for batch in batches(said):
        prompt = profile_prompt(
            language=language,
            statements=as_statements(batch),
            known=[*known, *(trait.worded() for trait in traits)],
            dimensions=dimensions,
        )
        items = await asked(model, prompt, holding="traits")
        ids = {str(utterance.id): utterance.id for utterance in batch}
        for item in items[:MOST_TRAITS]:
            trait = _checked_trait(item, ids=ids, dimensions=dimensions)
            if isinstance(trait, str):
                dropped[trait] += 1
            else:
                traits.append(trait)
        if len(items) > MOST_TRAITS:
            dropped["too_many"] += len(items) - MOST_TRAITS
    return ExtractedProfile(traits=tuple(traits), dropped=dict(dropped))


async def rate_salience(
    model: LanguageModel, *, language: str, said: Sequence[Utterance]
) -> RatedSalience:
    """Three ratings for every message; clipped to [0, 1].

    A message that the model left out is asked about once more. Raises ExtractionFailed if one
    stays without a rating, for salience is never made up.
    """
    ratings: dict[UUID, Rating] = {}
    dropped: Counter[str] = Counter()
    for _attempt in range(2):
        missing = [utterance for utterance in said if utterance.id not in ratings]
        for batch in batches(missing):
            prompt = salience_prompt(language=language, statements=as_statements(batch))
            ids = {str(utterance.id): utterance.id for utterance in batch}
            for item in await asked(model, prompt, holding="ratings"):
                rated = _checked_rating(item, ids=ids)
                if isinstance(rated, str):
                    dropped[rated] += 1
                else:
                    ratings.setdefault(*rated)
    if any(utterance.id not in ratings for utterance in said):
        raise ExtractionFailed("extraction:ratings_missing")
    return RatedSalience(ratings=ratings, dropped=dict(dropped))


async def asked(model: LanguageModel, prompt: Prompt, *, holding: str) -> list[Any]:
    """The list under ``holding`` in a model's answer, after one attempt at repair.

    Raises ExtractionFailed.
    """
    answer = await _completed(model, prompt)
    found = json_object(answer, holding=holding)
    if found is None:
        repair = repair_prompt(language=prompt.language, broken=answer, holding=holding)
        found = json_object(await _completed(model, repair), holding=holding)
    if found is None:
        raise ExtractionFailed("extraction:invalid_json")
    items: list[Any] = found[holding]
    return items


async def _completed(model: LanguageModel, prompt: Prompt) -> str:
    try:
        return (await model.complete(prompt, json=True, sampling=_SAMPLING)).text
    except ModelFailure as failure:
        raise ExtractionFailed(f"extraction:{failure.kind}") from failure


def batches(said: Sequence[Utterance]) -> Iterator[list[Utterance]]:
    """Messages in order, so many at a time as one call is asked about."""
    batch: list[Utterance] = []
    characters = 0
    for utterance in said:
        full = len(batch) >= BATCH_STATEMENTS or characters + len(utterance.text) > BATCH_CHARACTERS
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(utterance)
        characters += len(utterance.text)
    if batch:
        yield batch


def as_statements(batch: Sequence[Utterance]) -> list[Statement]:
    """Messages as the material of a prompt."""
    return [Statement(id=str(utterance.id), text=utterance.text) for utterance in batch]


def _checked_trait(
    item: object, *, ids: Mapping[str, UUID], dimensions: Sequence[ProfilePart]
) -> ExtractedTrait | str:
    """The trait, or the reason for which it is dropped."""
    if not isinstance(item, dict):
        return "not_an_object"
    dimension, message = item.get("dimension"), item.get("message")
    if not isinstance(dimension, str) or dimension not in {part.value for part in dimensions}:
        return "unknown_dimension"
    if not isinstance(message, str) or message not in ids:
        return "foreign_message"
    text = storable(item.get("text"), longest=TRAIT_CHARACTERS)
    if text is None:
        return "unusable_text"
    part = ProfilePart(dimension)
    key = _optional(item.get("key"), KEY_CHARACTERS) if part is ProfilePart.BASIC_INFO else ""
    emotion = (
        _optional(item.get("emotion"), EMOTION_CHARACTERS)
        if part is ProfilePart.SIGNIFICANT_EVENTS
        else ""
    )
    if key is None or (part is ProfilePart.BASIC_INFO and not key):
        return "unusable_key"
    if emotion is None:
        return "unusable_emotion"
    return ExtractedTrait(dimension=part, key=key, text=text, emotion=emotion, message=ids[message])


def _optional(value: object, longest: int) -> str | None:
    """ "" for null or blank, None for what can't be used."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    return storable(value, longest=longest)


def _checked_rating(item: object, *, ids: Mapping[str, UUID]) -> tuple[UUID, Rating] | str:
    """The message and its rating, or the reason for which it is dropped."""
    if not isinstance(item, dict):
        return "not_an_object"
    message = item.get("message")
    if not isinstance(message, str) or message not in ids:
        return "foreign_message"
    intensity = clipped(item.get("intensity"))
    self_disclosure = clipped(item.get("self_disclosure"))
    value_relevance = clipped(item.get("value_relevance"))
    if intensity is None or self_disclosure is None or value_relevance is None:
        return "unusable_rating"
    return ids[message], Rating(
        intensity=intensity, self_disclosure=self_disclosure, value_relevance=value_relevance
    )


def clipped(value: object) -> float | None:
    """A finite number clipped to [0, 1]; None for anything else (a bool is no number here)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    # Six digits are more than a rating means, and Postgres raises on products that underflow.
    return round(float(min(1, max(0, value))), 6)
