"""Rating how much a statement matters to who said it, by lexicon."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memlab.core.llm.offline.words import feeling_in

if TYPE_CHECKING:
    from memlab.core.values import Statement

_STRONGER = re.compile(
    r"太.{1,4}了|非常|特别|极其|really really|\b(?:extremely|so much|incredibly)\b|[!！]",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"我|自己|\b(?:i|i'm|i've|my|me|myself)\b", re.IGNORECASE)
_SECRET = re.compile(
    r"从没告诉过|从来没(?:有)?(?:跟|和|对)?.{0,4}说过|没人知道|不敢告诉|只告诉你|秘密"
    r"|never told|nobody knows|no one knows|first time .{0,20}(?:say|tell)|\bsecret\b|haven't told",
    re.IGNORECASE,
)
_CANDID = re.compile(
    r"说实话|老实说|坦白|其实|不瞒你"
    r"|\b(?:honestly|to be honest|frankly|the truth is|i (?:have to )?admit|truth be told)\b",
    re.IGNORECASE,
)
_PLAIN_FACT = re.compile(
    r"我(?:是|在|有|叫|住)|\bi(?: a|')m\b|\bmy name\b|\bi (?:work|live|have)\b", re.IGNORECASE
)
_GUARDED = re.compile(r"随便吧|无所谓|whatever|\bi don't care\b", re.IGNORECASE)
# What people hold dear, and how strongly naming it speaks of values (0-1).
_VALUES: tuple[tuple[re.Pattern[str], float], ...] = tuple(
    (re.compile(signs, re.IGNORECASE), weight)
    for signs, weight in (
        (
            r"最重要|比什么都重要|一生|信仰|原则|底线|(?:对我来说|我觉得).{0,8}重要"
            r"|\b(?:most important|means everything|matters most|believe in|principle)\b",
            0.9,
        ),
        (
            r"未来|人生|意义|梦想|理想|自由|尊严|责任|诚实|正义"
            r"|\b(?:future|meaning|purpose|dream|freedom|dignity|duty|honest[^l]|justice)\b",
            0.7,
        ),
        (r"失败|成功|认可|努力|坚持|\b(?:fail\w*|success|achieve\w*|recogni[sz]ed)\b", 0.6),
        (
            r"家人|父母|爸爸|妈妈|孩子|去世|婚|爱人|朋友"
            r"|\b(?:family|parents|mother|father|mom|dad|child(?:ren)?"
            r"|died|passed away|marri\w+|friends?)\b",
            0.5,
        ),
        (r"工作|学业|论文|健康|职业|\b(?:career|health|thesis|studies)\b", 0.3),
    )
)


def rated_statements(material: Iterable[Statement]) -> str:
    """The ratings of each statement as JSON."""
    ratings = [
        {
            "message": statement.id,
            "intensity": intensity(statement.text),
            "self_disclosure": self_disclosure(statement.text),
            "value_relevance": value_relevance(statement.text),
        }
        for statement in material
    ]
    return json.dumps({"ratings": ratings}, ensure_ascii=False)


def intensity(text: str) -> float:
    """How strong the feeling in a text is, 0-1."""
    feeling = feeling_in(text)
    if feeling is None:
        return 0.0
    return round(min(1.0, feeling.intensity + (0.1 if _STRONGER.search(text) else 0.0)), 2)


def self_disclosure(text: str) -> float:
    """How much of the private self a text opens, 0-1."""
    if _SECRET.search(text):
        return 1.0
    if _GUARDED.search(text):
        return 0.2
    if not _FIRST_PERSON.search(text):
        return 0.0
    feeling = feeling_in(text)
    if feeling is not None:
        opened = 0.5 if feeling.valence < 0 else 0.3
    else:
        opened = 0.2 if _PLAIN_FACT.search(text) else 0.1
    return round(opened + (0.2 if _CANDID.search(text) else 0.0), 2)


def value_relevance(text: str) -> float:
    """How closely a text touches what somebody holds dear, 0-1."""
    return max((weight for signs, weight in _VALUES if signs.search(text)), default=0.0)
