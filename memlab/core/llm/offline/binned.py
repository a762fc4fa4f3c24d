"""Filling the four bins by rule: facts, relations and affects from what a participant said, and
style from how the reply was put.

An item is a sentence in the participant's own words, in one bin: a relation if it is about how to
deal with them, an affect if a feeling shows, else a fact. The first statement of the material is
the participant's. A second one is the reply, and says that more than facts is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memlab.core.llm.offline.appraisal import sets_boundary
from memlab.core.llm.offline.extraction import traits_of
from memlab.core.llm.offline.statements import own_sentences
from memlab.core.llm.offline.words import feeling_in
from memlab.core.llm.tokens import count_tokens

if TYPE_CHECKING:
    from memlab.core.values import Statement

_FACTS = frozenset({"basic_info", "constraints", "goals", "personality", "social"})
_RELATIONS = frozenset({"preferences", "core_values", "emotional_needs"})
_PROMISE = re.compile(r"\bi promise\b|我(?:答应|保证)", re.IGNORECASE)
_LONGEST = 160
_SHORT, _LONG = 40, 160
_SYMPATHY = re.compile(
    r"不容易|难受|听到了|明白|理解|谢谢你(?:愿意|告诉)"
    r"|\b(?:sorry|sounds hard|i (?:hear|understand|see)|thank you for)\b",
    re.IGNORECASE,
)


def binned_items(material: Sequence[Statement], *, known: Sequence[str] = ()) -> str:
    """The items as JSON; what is known, and repetitions, are left out."""
    said, *replied = material
    familiar = {line.casefold() for line in known}
    found: dict[tuple[str, str, str], None] = {}
    for bin_, text in _told(said.text):
        if text.casefold() not in familiar and (replied or bin_ == "fact"):
            found.setdefault((bin_, text, said.id))
    for reply in replied:
        found.setdefault(("style", _manner(reply.text), reply.id))
    items = [{"bin": bin_, "text": text, "message": id_} for bin_, text, id_ in found]
    return json.dumps({"items": items}, ensure_ascii=False)


def _told(text: str) -> Iterator[tuple[str, str]]:
    for sentence in own_sentences(text, longest=_LONGEST):
        yield _bin_of(sentence), sentence.rstrip("。.，, ")


def _bin_of(sentence: str) -> str:
    dimensions = {trait.dimension for trait in traits_of(sentence)}
    if sets_boundary(sentence) or _PROMISE.search(sentence):
        return "relation"
    if feeling_in(sentence) and not dimensions & _FACTS:
        return "affect"
    if dimensions & _RELATIONS and not dimensions & _FACTS:
        return "relation"
    return "fact"


def _manner(reply: str) -> str:
    """How a reply is put, in its own language: its length, its sympathy, whether it asks back."""
    chinese = bool(re.search(r"[\u4e00-\u9fff]", reply))
    tokens = count_tokens(reply)
    if tokens < _SHORT:
        parts = ["简短" if chinese else "brief"]
    elif tokens > _LONG:
        parts = ["详细" if chinese else "detailed"]
    else:
        parts = ["长短适中" if chinese else "of medium length"]
    if _SYMPATHY.search(reply):
        parts.append("先回应感受" if chinese else "answers the feeling first")
    if "?" in reply or "？" in reply:
        parts.append("反问一句" if chinese else "asks back")
    return ("，" if chinese else ", ").join(parts)
