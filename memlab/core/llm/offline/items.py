"""What of a message is worth keeping, how important it is, and what to file it under, by rules.

A sentence that states something is an item in the participant's own words. What the extraction
patterns recognise counts by its dimension; anything else is a passing remark. Feeling adds to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memlab.core.llm.offline.patterns import RULES, SUPPOSITION
from memlab.core.llm.offline.sentences import SENTENCES, statements_of, with_subjects
from memlab.core.llm.offline.words import TOPICS, feeling_in, own_words

if TYPE_CHECKING:
    from memlab.core.values import Statement

_LONGEST = 160
_LEAST_WORDS = 2
_MOST_KEYWORDS = 5
_REMARK = 0.2
_FELT = 0.2
_IMPORTANCE = {
    "basic_info": 0.9,
    "constraints": 0.9,
    "core_values": 0.8,
    "significant_events": 0.8,
    "emotional_needs": 0.7,
    "goals": 0.7,
    "social": 0.7,
    "personality": 0.6,
    "preferences": 0.5,
}
_COURTESY = re.compile(
    r"^\W*(?:(?:你好|您好|嗨|谢谢你?|多谢|早上好|晚上好|晚安|再见|拜拜|好的?|嗯+|是的|对)"
    r"|(?:hello|hi|hey|thanks?(?: you)?(?: so much| a lot)?|good (?:morning|evening|night)|bye"
    r"|goodbye|ok(?:ay)?|yes|no|sure))(?:\s+there)?\W*$",
    re.IGNORECASE,
)
#: Signs of a topic that file nothing: every other sentence holds them.
_GENERAL = {
    *("吃", "喝", "菜", "饭", "岁", "甜", "辣", "我叫", "住在", "住哪", "来自", "打算", "计划"),
    *("from", "live in", "lives in"),
}
_EDGES = " \t,，、:：\"'“”‘’。.!！~～;；\n"


def extracted_items(material: Iterable[Statement]) -> str:
    """The items of each statement as JSON; none from questions, suppositions and courtesies."""
    items = [item for statement in material for item in _items_of(statement)]
    return json.dumps({"items": items}, ensure_ascii=False)


def _items_of(statement: Statement) -> Iterator[dict[str, object]]:
    for sentence in SENTENCES.findall(statement.text):
        stated = statements_of(sentence).strip(_EDGES)
        if not stated or SUPPOSITION.match(stated) or _COURTESY.match(stated):
            continue
        keywords = _keywords(stated)
        importance = _importance(stated)
        if len(keywords) < _LEAST_WORDS and importance <= _REMARK:
            continue
        yield {
            "text": stated[:_LONGEST],
            "importance": importance,
            "keywords": keywords[:_MOST_KEYWORDS],
            "message": statement.id,
        }


def _importance(stated: str) -> float:
    """0.2 for a remark, more by what the patterns recognise in it, and more with a feeling."""
    told = with_subjects(stated)
    base = max(
        (_IMPORTANCE[rule.dimension] for rule in RULES if rule.pattern.search(told)),
        default=_REMARK,
    )
    feeling = feeling_in(stated)
    return round(min(1.0, base + (_FELT * feeling.intensity if feeling else 0.0)), 2)


def _keywords(stated: str) -> list[str]:
    """What it says of a topic first, for that is what a question would ask with; then the rest."""
    topical = [
        match.group(0).lower()
        for signs in TOPICS.values()
        for match in signs.finditer(stated)
        if match.group(0).lower() not in _GENERAL
    ]
    return list(dict.fromkeys([*topical, *own_words(stated)]))
