"""Whether a text rests on what somebody has said themselves. Pure.

A model that writes memories can write down what it was shown, what it made up or what a question
merely touched on. So a new memory has to consist, for a good part, of words that the participant
has just stated; a question states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from memlab.core.llm.offline.sentences import SENTENCES, statements_of
from memory.words import words

_HAN = re.compile(r"[\u3400-\u9fff]")
#: What a model calls the participant; whoever speaks of themselves says otherwise.
_SUBJECTS = frozenset(words("user participant owner 用户 参与者 主人"))
_NEGATION = re.compile(
    r"\b(?:no|not|never|nobody|nothing|none|neither|without|cannot|hate[sd]?|dislike[sd]?|stopped"
    r"|quit|avoid(?:s|ed)?)\b|n['’]t\b"
    r"|不(?!错|过|仅|但|同|久|断|少|得不)|没(?!错)|(?<![特区个分差类性告识级])别(?!的|人)|未(?!来)"
    r"|讨厌|无聊|厌",
    re.IGNORECASE,
)


def key_words(text: str) -> frozenset[str]:
    """The content words of a memory, without its subject."""
    return frozenset(words(text)) - _SUBJECTS


def stated(text: str) -> str:
    """What a message states; what it asks is left out."""
    return "".join(statements_of(sentence) for sentence in SENTENCES.findall(text))


def shared(wanted: Collection[str], text: str) -> frozenset[str]:
    """Those of some content words that stand in a text.

    A Chinese word also counts where it is part of a longer one: 篮球 stands in 打篮球.
    """
    standing = frozenset(words(text))
    plain = text.casefold()
    return frozenset(
        word for word in wanted if word in standing or (_HAN.search(word) and word in plain)
    )


def support(content: str, statements: Iterable[str]) -> float:
    """The share of a memory's content words that the statements contain, in [0, 1]."""
    wanted = key_words(content)
    if not wanted:
        return 0.0
    found = frozenset().union(*(shared(wanted, text) for text in statements))
    return len(found) / len(wanted)


def echoed(text: str, *, said: Iterable[str], known: Iterable[str], share: float = 0.5) -> bool:
    """Whether a text repeats something known, word for word, instead of what was said.

    It does if less than ``share`` of its content words were said, and it stands within a known
    memory or one of several words stands within it. Other words for a thing, or something that a
    message implies, are no echo.
    """
    wanted = key_words(text)
    spoken = frozenset[str]().union(*(shared(wanted, each) for each in said))
    if len(spoken) >= share * len(wanted):
        return False
    written = _content(text)
    return any(
        _stands_in(written, memory) or (len(memory) > 1 and _stands_in(memory, written))
        for memory in map(_content, known)
    )


def _content(text: str) -> tuple[str, ...]:
    """The content words of a text in their order, without its subject."""
    return tuple(word for word in words(text) if word not in _SUBJECTS)


def _stands_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    length = len(part)
    return any(part == whole[at : at + length] for at in range(len(whole) - length + 1))


def negated(text: str) -> bool:
    """Whether a text denies something. Keywords don't show it: a denial shares them all."""
    return bool(_NEGATION.search(text))
