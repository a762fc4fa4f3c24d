"""The offline model's replies: what it was given, in plain words, and a question back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memlab.core.llm.base import Speaker
from memlab.core.llm.offline.phrases import PHRASES, Phrases
from memlab.core.llm.offline.sentences import is_question
from memlab.core.llm.offline.tools import found_by_tool
from memlab.core.llm.offline.words import Feeling, content_words, feeling_in, topics_in

if TYPE_CHECKING:
    from memlab.core.values import Prompt

# A line answers a question about oneself if the two share a word of meaning or only
# a topic; other questions and statements need more, lest an echo pass for knowledge.
_SHARED_WORD = 1.0
_SHARED_TOPIC = 0.6
_ANSWERS = 0.6
_ANSWERS_ANYTHING = 2.0
_RELATES = 1.0
_MOST_QUOTED = 2

_PROVENANCE = re.compile(r"^(?:[-•*]\s+)?(?:[\[【(（][^\]】)）]*[\]】)）]\s*)*")
_OWN = re.compile(
    r"^(?:user|participant|you|me|i|用户|参与者|被试|你|我|对方)\s*[:：]\s*", re.IGNORECASE
)
_MODELS = re.compile(
    r"^(?:assistant|ai(?: assistant)?|partner|companion|助手|AI ?助手|AI|伙伴)\s*[:：]",
    re.IGNORECASE,
)
_ABOUT_THE_MODEL = re.compile(
    r"你是谁|你是(?:不是)?(?:真|人|机器|ai)|你叫什么|什么模型|你是.{0,6}(?:人类"
    r"|真人|机器人|程序|AI)"
    r"|who are you|what are you|are you (?:a |an )?(?:real|human"
    r"|person|robot|bot|ai|chatgpt|program)"
    r"|what model|your name|language model",
    re.IGNORECASE,
)
# The sentence around a quotation has an end of its own; an ellipsis stays.
_FULL_STOP = re.compile(r"(?<![.。])[.。;；]\s*$")
_ABOUT_ONESELF = re.compile(r"我|记得|\b(?:i|i'm|i've|my|me|mine|remember)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A line that can be quoted; `earlier` means from memory, not from this session."""

    text: str
    earlier: bool


def reply(prompt: Prompt) -> str:
    """The reply to the last message of the participant; an opening line if there is none."""
    phrases = PHRASES["en" if prompt.language.startswith("en") else "zh"]
    said = [m.content for m in prompt.messages if m.speaker is Speaker.USER]
    if not said:
        return phrases.opening
    first = not any(m.speaker is Speaker.ASSISTANT and m.content for m in prompt.messages)
    query = said[-1]
    parts = [_answer(query, list(_remembered(prompt, said[:-1])), phrases)]
    if not is_question(query):
        parts.append(_question_back(query, len(said), phrases))
    text = phrases.joiner.join(part for part in parts if part)
    return phrases.tag + text if first and not _ABOUT_THE_MODEL.search(query) else text


def _remembered(prompt: Prompt, earlier_here: Sequence[str]) -> Iterator[_Remembered]:
    """What can be quoted: the memory sections, what tools found, what was said in this session."""
    for section in prompt.sections:
        if section.key == "tools":  # says what to do, not what was said
            continue
        for line in section.lines:
            plain = _PROVENANCE.sub("", line.strip())
            if plain and not _MODELS.match(plain):
                yield _Remembered(_OWN.sub("", plain), earlier=True)
    for message in prompt.messages:
        if message.speaker is Speaker.TOOL:
            for text in found_by_tool(message.content):
                yield _Remembered(text, earlier=True)
    for text in earlier_here:
        yield _Remembered(text.strip(), earlier=False)


def _answer(query: str, remembered: Sequence[_Remembered], phrases: Phrases) -> str:
    if _ABOUT_THE_MODEL.search(query):
        return phrases.about_itself
    if is_question(query):
        oneself = _ABOUT_ONESELF.search(query)
        found = _best(query, remembered, least=_ANSWERS if oneself else _ANSWERS_ANYTHING)
        if found:
            return phrases.recalled.format(quotes=_quoted(found, phrases))
        return phrases.unknown_of_you if oneself else phrases.unknown
    feeling = feeling_in(query)
    found = [line for line in _best(query, remembered, least=_RELATES) if line.earlier][:1]
    parts = [_acknowledged(query, feeling, phrases)]
    if found:
        parts.append(phrases.reminded.format(quotes=_quoted(found, phrases)))
    return phrases.joiner.join(parts)


def _best(query: str, remembered: Sequence[_Remembered], *, least: float) -> list[_Remembered]:
    """The lines that fit the query about equally well, best first; questions answer nothing."""
    words, topics = content_words(query), topics_in(query)
    scored = []
    for position, line in enumerate(remembered):
        if is_question(line.text) or line.text == query.strip():
            continue
        shared = len(words & content_words(line.text)) * _SHARED_WORD
        shared += len(topics & topics_in(line.text)) * _SHARED_TOPIC
        if shared >= least:
            scored.append((shared, position, line))
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    return [line for score, _, line in scored[:_MOST_QUOTED] if score > scored[0][0] / 2]


def _quoted(lines: Sequence[_Remembered], phrases: Phrases) -> str:
    texts = (_FULL_STOP.sub("", line.text) for line in lines)
    return phrases.between_quotes.join(phrases.quote.format(text=text) for text in texts)


def _acknowledged(query: str, feeling: Feeling | None, phrases: Phrases) -> str:
    if feeling is None:
        return _chosen(phrases.neutral, query)
    if feeling.valence > 0:
        return _chosen(phrases.glad, query)
    return _chosen(phrases.sorry, query)


def _question_back(query: str, turn: int, phrases: Phrases) -> str:
    topics = sorted(topics_in(query) & phrases.questions.keys())
    choices = phrases.questions[topics[0]] if topics else phrases.general_questions
    return _chosen(choices, f"{turn}:{query}")


def _chosen(choices: Sequence[str], seed: str) -> str:
    """One of the choices: always the same for the same seed."""
    return choices[hashlib.sha256(seed.encode()).digest()[0] % len(choices)]
