"""Asking a language model which items of a message are worth keeping, and checking its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memlab.core.llm.base import LanguageModel
from memlab.core.values import Utterance
from memory.answers import storable
from memory.extraction import as_statements, asked, batches, clipped
from memory.item_prompts import items_prompt
from memory.models.profile import normalised
from memory.models.retained import ITEM_CHARACTERS, KEYWORD_CHARACTERS, MOST_KEYWORDS

#: More items than this from one call are not extraction but noise.
MOST_ITEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedItem:
    """An item as the model worded it, checked. ``importance`` in [0, 1]."""

    text: str
    importance: float
    keywords: tuple[str, ...]
    message: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedItems:
    items: tuple[ExtractedItem, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)


async def extract_items(
    model: LanguageModel, *, language: str, said: Sequence[Utterance]
) -> ExtractedItems:
    """What of a participant's own messages is worth keeping. Raises ExtractionFailed.

    What the model gives twice in the same words is taken once.
    """
    items: dict[str, ExtractedItem] = {}
    dropped: Counter[str] = Counter()
    for batch in batches(said):
        prompt = items_prompt(language=language, statements=as_statements(batch))
        given = await asked(model, prompt, holding="items")
        ids = {str(utterance.id): utterance.id for utterance in batch}
        for each in given[:MOST_ITEMS]:
            item = _checked(each, ids=ids, dropped=dropped)
            if isinstance(item, str):
                dropped[item] += 1
            elif items.setdefault(normalised(item.text), item) is not item:
                dropped["repeated"] += 1
        if len(given) > MOST_ITEMS:
            dropped["too_many"] += len(given) - MOST_ITEMS
    return ExtractedItems(items=tuple(items.values()), dropped=dict(dropped))


def _checked(
    item: object, *, ids: Mapping[str, UUID], dropped: Counter[str]
) -> ExtractedItem | str:
    """The item, or the reason for which it is dropped. A keyword that can't be used is dropped by
    itself."""
    if not isinstance(item, dict):
        return "not_an_object"
    message = item.get("message")
    if not isinstance(message, str) or message not in ids:
        return "foreign_message"
    text = storable(item.get("text"), longest=ITEM_CHARACTERS)
    if text is None:
        return "unusable_text"
    importance = clipped(item.get("importance"))
    if importance is None:
        return "unusable_importance"
    keywords = _keywords(item.get("keywords"), dropped)
    return ExtractedItem(text=text, importance=importance, keywords=keywords, message=ids[message])


def _keywords(given: object, dropped: Counter[str]) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        dropped["unusable_keyword"] += 1
        return ()
    usable = [storable(keyword, longest=KEYWORD_CHARACTERS) for keyword in given[:MOST_KEYWORDS]]
    kept = tuple(dict.fromkeys(keyword for keyword in usable if keyword is not None))
    unusable = usable.count(None) + max(0, len(given) - MOST_KEYWORDS)
    if unusable:
        dropped["unusable_keyword"] += unusable
    return kept
