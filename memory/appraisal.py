"""Asking a model how a message was meant, and what a turn leaves in the four bins.

As in ``memory.extraction``: a model's answer is never trusted. What doesn't fit is dropped and
counted by reason, and nothing is made up in place of an answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memlab.core.llm.base import LanguageModel
from memlab.core.values import Turn, Utterance
from memory.answers import storable
from memory.appraisal_prompts import appraisal_prompt, binned_prompt
from memory.enums import Bin, EventTag
from memory.extraction import ExtractionFailed, as_statements, asked
from memory.formulas.regulation import Appraisal
from memory.models.binned import ITEM_CHARACTERS

#: More items than this from one turn are not extraction but noise.
MOST_ITEMS = 30
#: What a turn may be tagged with by a model; great surprise follows from the numbers.
TAGS = tuple(tag for tag in EventTag if tag is not EventTag.HIGH_SURPRISE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appraised:
    """One message as it was taken: numbers within their ranges, tags in the order of their enum."""

    appraisal: Appraisal
    events: tuple[EventTag, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedItem:
    """An item as the model worded it, checked, with the message it comes from."""

    bin: Bin
    text: str
    message: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedItems:
    items: tuple[ExtractedItem, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


async def appraise(model: LanguageModel, *, language: str, said: Utterance) -> Appraised:
    """How one message of the participant's was meant; numbers are clipped to their ranges.

    An answer without a usable appraisal is asked for once more. Raises ExtractionFailed if there
    is none then either.
    """
    prompt = appraisal_prompt(language=language, statements=as_statements([said]), tags=TAGS)
    dropped: Counter[str] = Counter()
    for _attempt in range(2):
        for item in await asked(model, prompt, holding="appraisals"):
            found = _checked_appraisal(item, message=said.id)
            if isinstance(found, str):
                dropped[found] += 1
                continue
            appraisal, events, unknown = found
            if unknown:
                dropped["unknown_event"] += unknown
            return Appraised(appraisal=appraisal, events=events, dropped=dict(dropped))
    raise ExtractionFailed("extraction:appraisal_missing")


async def extract_items(
    model: LanguageModel,
    *,
    language: str,
    turn: Turn,
    bins: Collection[Bin],
    known: Sequence[str],
) -> ExtractedItems:
    """What a turn leaves in the given bins.

    The reply is shown to the model only where style is asked for, and only style may come from
    it: facts, relations and affects come from the participant's own message. ``known`` are facts
    that need no telling again. Raises ExtractionFailed.
    """
    sources = {
        bin_: turn.answered.id if bin_ is Bin.STYLE else turn.said.id
        for bin_ in Bin
        if bin_ in bins
    }
    shown = [turn.said, turn.answered] if Bin.STYLE in sources else [turn.said]
    prompt = binned_prompt(
        language=language, statements=as_statements(shown), bins=tuple(sources), known=known
    )
    answer = await asked(model, prompt, holding="items")
    dropped: Counter[str] = Counter()
    items: list[ExtractedItem] = []
    for offered in answer[:MOST_ITEMS]:
        item = _checked_item(offered, sources=sources)
        if isinstance(item, str):
            dropped[item] += 1
        else:
            items.append(item)
    if len(answer) > MOST_ITEMS:
        dropped["too_many"] += len(answer) - MOST_ITEMS
    return ExtractedItems(items=tuple(items), dropped=dict(dropped))


def _checked_appraisal(
    item: object, *, message: UUID
) -> tuple[Appraisal, tuple[EventTag, ...], int] | str:
    """The appraisal, its tags and how many were unknown; or the reason why it is dropped."""
    if not isinstance(item, dict):
        return "not_an_object"
    if item.get("message") != str(message):
        return "foreign_message"
    valence = _clipped(item.get("valence"), low=-1)
    offensiveness = _clipped(item.get("offensiveness"), low=0)
    boundary, events = item.get("boundary"), item.get("events")
    if valence is None or offensiveness is None:
        return "unusable_number"
    if not isinstance(boundary, bool):
        return "unusable_boundary"
    if not isinstance(events, list):
        return "unusable_events"
    named = {event for event in events if isinstance(event, str)}
    tags = tuple(tag for tag in TAGS if tag.value in named)
    appraisal = Appraisal(valence=valence, offensiveness=offensiveness, boundary=boundary)
    return appraisal, tags, len(events) - len(tags)


def _checked_item(item: object, *, sources: Mapping[Bin, UUID]) -> ExtractedItem | str:
    """The item, or the reason for which it is dropped."""
    if not isinstance(item, dict):
        return "not_an_object"
    named = item.get("bin")
    if not isinstance(named, str) or named not in Bin.values:
        return "unknown_bin"
    bin_ = Bin(named)
    if bin_ not in sources:
        return "bin_not_asked_for"
    if item.get("message") != str(sources[bin_]):
        return "foreign_message"
    text = storable(item.get("text"), longest=ITEM_CHARACTERS)
    if text is None:
        return "unusable_text"
    return ExtractedItem(bin=bin_, text=text, message=sources[bin_])


def _clipped(value: object, *, low: int) -> float | None:
    """A finite number clipped to [low, 1]; None for anything else (a bool is no number here)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return round(float(min(1, max(low, value))), 6)
