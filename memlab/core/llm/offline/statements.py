"""Statements, summaries and mergers by rules, for memories that compress.

A statement is a sentence in the first person, in the participant's own words; a summary is the
beginning of a text, cut between clauses; a merger says both, one after the other. Nothing is
worded anew, so nothing is made up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memlab.core.llm.offline.extraction import traits_of
from memlab.core.llm.offline.patterns import SUPPOSITION
from memlab.core.llm.offline.sentences import SENTENCES, statements_of
from memlab.core.llm.offline.words import TOPICS, content_words

if TYPE_CHECKING:
    from memlab.core.values import Statement

#: What a summary keeps of a text at most, and how long the value of a tag may be.
_KEPT = 2 / 3
_VALUE = 40
_LONGEST = 300
_FEWEST_WORDS = 2

_FIRST_PERSON = re.compile(r"我|咱|\b(?:i|i'm|i've|i'd|i'll|my|me|we|our)\b", re.IGNORECASE)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CLAUSE = re.compile(r"[^，,；;。.！!？?]+[，,；;。.！!？?]*")
_ENDS = " \t,，;；.。!！?？、"
_TAG = re.compile(r"#([^\s:#]+):(.+?)(?=\s#|$)")
_PLAIN = re.compile(r"[\W_]+")

_TOPICS_ZH = {
    "name": "名字",
    "age": "年龄",
    "home": "住处",
    "food": "饮食",
    "work": "工作",
    "study": "学习",
    "family": "家人",
    "love": "感情",
    "friends": "朋友",
    "pets": "宠物",
    "health": "健康",
    "sport": "运动",
    "art": "文艺",
    "travel": "旅行",
    "future": "打算",
}
_DIMENSIONS_ZH = {
    "name": "姓名",
    "age": "年龄",
    "occupation": "职业",
    "workplace": "单位",
    "residence": "住处",
    "hometown": "家乡",
    "preferences": "喜好",
    "constraints": "限制",
    "goals": "目标",
    "personality": "性格",
    "social": "亲友",
    "emotional_needs": "需求",
    "core_values": "看重",
    "significant_events": "经历",
}
_OTHER = {True: "其他", False: "other"}
_DIMENSIONS_EN = {
    "preferences": "preference",
    "constraints": "limit",
    "goals": "goal",
    "emotional_needs": "need",
    "core_values": "value",
    "significant_events": "event",
}


def extracted_statements(material: Iterable[Statement]) -> str:
    """Each sentence in which a person states something about themselves, as JSON."""
    found = [
        {"message": statement.id, **_filed(text)}
        for statement in material
        for text in own_sentences(statement.text)
    ]
    return json.dumps({"statements": found}, ensure_ascii=False)


def summaries(material: Iterable[Statement]) -> str:
    """Each text shortened by leaving off clauses from its end, as JSON."""
    shortened = [
        {"id": statement.id, "text": shortened_text(statement.text)} for statement in material
    ]
    return json.dumps({"summaries": shortened}, ensure_ascii=False)


def merged(material: Sequence[Statement]) -> str:
    """An earlier note and a new statement as one text that holds both, as JSON.

    What one of them says already isn't said twice; of tags only those stay that tell something
    which the statement doesn't.
    """
    earlier, now = (statement.text for statement in material)
    before = _TAG.findall(earlier) if earlier.startswith("#") else []
    tags = dict.fromkeys([*_tags(now), *(before or _tags(earlier))])
    left = " ".join(f"#{name}:{value}" for name, value in before if not _says(now, value))
    item = {
        "text": _joined(left if before else earlier, now),
        "topic": _topic(now),
        "tags": [{"dimension": name, "value": value} for name, value in tags][:6],
    }
    return json.dumps({"merged": [item]}, ensure_ascii=False)


def shortened_text(text: str) -> str:
    """The first clauses of a text, two thirds of it at most; at least one, and “…” for the rest."""
    clauses = _CLAUSE.findall(text)
    kept = clauses[0] if clauses else text
    for clause in clauses[1:]:
        if len((kept + clause).rstrip(_ENDS)) > _KEPT * len(text):
            break
        kept += clause
    shorter = kept.rstrip(_ENDS) + "…"
    return shorter if len(shorter) < len(text) else text


def own_sentences(text: str, *, longest: int = _LONGEST) -> Iterator[str]:
    """The sentences in which somebody states something about themselves, cut at ``longest``."""
    for sentence in SENTENCES.findall(text):
        stated = statements_of(sentence).strip(" \t\n,，;；、")
        if (
            _FIRST_PERSON.search(stated)
            and not SUPPOSITION.match(stated)
            and _says_something(stated)
        ):
            line = " ".join(stated.split())
            yield from (line[i : i + longest] for i in range(0, len(line), longest))


def _says_something(text: str) -> bool:
    """Whether a sentence tells more than “I think so”."""
    return len(content_words(text)) >= _FEWEST_WORDS or any(True for _ in traits_of(text))


def _filed(text: str) -> dict[str, Any]:
    tags = [{"dimension": name, "value": value} for name, value in _tags(text)]
    return {"text": text, "topic": _topic(text), "tags": tags[:3]}


def _tags(text: str) -> list[tuple[str, str]]:
    """Dimension and value of each trait that a text tells; its topic and beginning without any."""
    names = _DIMENSIONS_ZH if _CHINESE.search(text) else _DIMENSIONS_EN
    told = ((trait.key or trait.dimension, trait.text[:_VALUE]) for trait in traits_of(text))
    tags = list(dict.fromkeys((names.get(name, name), value) for name, value in told))
    if tags:
        return tags
    return [(_topic(text), _core(text))]


def _core(text: str) -> str:
    """The first clause in the first person, or else the first, so much of it as makes a value."""
    clauses: list[str] = _CLAUSE.findall(text) or [text]
    own = next((clause for clause in clauses if _FIRST_PERSON.search(clause)), clauses[0])
    core = own.strip(_ENDS)
    if len(core) <= _VALUE:
        return core
    return (core[: _VALUE + 1].rpartition(" ")[0] or core[:_VALUE]).rstrip(_ENDS)


def _topic(text: str) -> str:
    """The first topic of the lexicon that a text touches, in the text's language."""
    chinese = bool(_CHINESE.search(text))
    for name, signs in TOPICS.items():
        if signs.search(text):
            return _TOPICS_ZH[name] if chinese else name
    return _OTHER[chinese]


def _joined(earlier: str, now: str) -> str:
    if not earlier or _says(now, earlier):
        return now
    if _says(earlier, now):
        return earlier
    chinese, ended = bool(_CHINESE.search(now)), earlier[-1] in ".!?。！？"
    return earlier + ("" if ended else "；" if chinese else ";") + ("" if chinese else " ") + now


def _says(text: str, part: str) -> bool:
    """Whether a text holds another, whatever the case, spaces and punctuation."""
    return _PLAIN.sub("", part.lower()) in _PLAIN.sub("", text.lower())
