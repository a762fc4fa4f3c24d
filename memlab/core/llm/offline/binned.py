"""Filling the four bins by rule: facts, relations and affects from what a participant said, and
style from how the reply was put.

The first statement of the material is the participant's. A second one is the reply, and says that
more than facts is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memlab.core.llm.offline.extraction import traits_of
from memlab.core.llm.offline.sentences import SENTENCES, is_question
from memlab.core.llm.tokens import count_tokens

if TYPE_CHECKING:
    from memlab.core.values import Statement

_BIN = {
    "basic_info": "fact",
    "constraints": "fact",
    "goals": "fact",
    "personality": "fact",
    "social": "fact",
    "preferences": "relation",
    "core_values": "relation",
    "emotional_needs": "relation",
}
_LONGEST = 80
_STOP_EN = r"(?=[,.;!?]|\s(?:but|because|so)\b|$)"
_STOP_ZH = r"(?=[，,。.；;！!？?\s]|$)"
# Boundaries and promises: (pattern, wording), in either language.
_DEALINGS = (
    (
        re.compile(
            r"\bi (?:really )?(?:don't|do not) want to "
            rf"(?P<what>(?:talk|speak) about[^,.;!?]{{2,50}}?){_STOP_EN}",
            re.IGNORECASE,
        ),
        "doesn't want to {what}",
    ),
    (
        re.compile(
            r"\b(?:please )?(?:don't|do not|stop) ask(?:ing)?(?: me)? "
            rf"(?P<what>about[^,.;!?]{{2,50}}?){_STOP_EN}",
            re.IGNORECASE,
        ),
        "doesn't want to be asked {what}",
    ),
    (
        re.compile(
            rf"\bi promise (?:to |that )?(?P<what>[^,.;!?]{{3,60}}?){_STOP_EN}", re.IGNORECASE
        ),
        "promised: {what}",
    ),
    (
        re.compile(
            rf"我不(?:太)?(?:想|愿意?)(?:再)?(?P<what>(?:谈|聊|提|讲|说起?)[^，,。.；;！!？?\s]{{1,20}}?)"
            rf"{_STOP_ZH}"
        ),
        "不想{what}",
    ),
    (
        re.compile(
            rf"(?:别|不要)(?:再|总)?(?P<what>(?:问|提|追问)[^，,。.；;！!？?\s]{{1,20}}?){_STOP_ZH}"
        ),
        "不愿被{what}",
    ),
    (
        re.compile(rf"我(?:答应|保证)(?P<what>[^，,。.；;！!？?\s]{{2,24}}?){_STOP_ZH}"),
        "答应{what}",
    ),
)
_MOVING = (
    (
        re.compile(
            r"(?P<what>[^,.;!?]{2,40}? (?:makes?|made) me (?:feel )?[^,.;!?]{2,30}?)"
            rf"{_STOP_EN}",
            re.IGNORECASE,
        ),
        "{what}",
    ),
    (
        re.compile(
            rf"(?P<what>[^，,。.；;！!？?\s我]{{1,14}}(?:让|使|令)我[^，,。.；;！!？?\s]{{2,14}}?){_STOP_ZH}"
        ),
        "{what}",
    ),
)
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
    for bin_, text in _from_participant(said, facts_only=not replied):
        if text.casefold() not in familiar:
            found.setdefault((bin_, text, said.id))
    for reply in replied:
        found.setdefault(("style", _manner(reply.text), reply.id))
    items = [{"bin": bin_, "text": text, "message": id_} for bin_, text, id_ in found]
    return json.dumps({"items": items}, ensure_ascii=False)


def _from_participant(said: Statement, *, facts_only: bool) -> Iterator[tuple[str, str]]:
    for trait in traits_of(said.text):
        worded = f"{trait.key}: {trait.text}" if trait.key else trait.text
        bin_ = _BIN.get(trait.dimension)
        if bin_ is None:  # a significant event: an affect if a feeling shows, else a fact
            bin_ = "affect" if trait.emotion else "fact"
            worded = f"{worded} ({trait.emotion})" if trait.emotion else worded
        if bin_ == "fact" or not facts_only:
            yield bin_, worded
    if not facts_only:
        yield from _by_pattern(said.text)


def _by_pattern(text: str) -> Iterator[tuple[str, str]]:
    for sentence in SENTENCES.findall(text):
        if is_question(sentence):
            continue
        for bin_, patterns in (("relation", _DEALINGS), ("affect", _MOVING)):
            for pattern, template in patterns:
                for match in pattern.finditer(sentence):
                    worded = template.format(what=match["what"].strip())
                    if len(worded) <= _LONGEST:
                        yield bin_, worded


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
