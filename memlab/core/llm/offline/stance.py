"""What a statement is about, and whether it speaks for or against it."""

from __future__ import annotations

import re

from memlab.core.llm.offline.words import content_words

_AGAINST = re.compile(
    r"\bno longer\b|\bany ?more\b|\bnever (?:like|liked|enjoy)"
    r"|\b(?:don't|do not|doesn't|does not|didn't|not) "
    r"(?:\w+ )?(?:like|love|enjoy|want|care|fond|into|interested)\b"
    r"|\b(?:hate|dislike|loathe)[sd]?\b|\bcan't stand\b|\b(?:stopped|quit|gave up)\b"
    r"|\bboring\b|\bbored\b|\b(?:tired|sick) of\b|\bno fun\b|\bawful\b"
    r"|不再|不(?:太|怎么|是很|那么)?(?:喜欢|爱|想|感兴趣)|没意思|没兴趣|讨厌|无聊|腻了|厌倦|受不了|不好玩",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\bforget (?:that|about|what i said)\b|\bi never said\b"
    r"|\bi was (?:only |just )?(?:joking|lying)\b"
    r"|\b(?:that's|that is|it's) (?:wrong|not true)\b|\bnever true\b"
    r"|忘掉|忘了吧|记错了|我没说过|不是真的|开玩笑的|骗你的",
    re.IGNORECASE,
)
#: How one stands towards something, which says nothing of what it is.
_ATTITUDE = re.compile(
    rf"{_AGAINST.pattern}|{_TAKES_BACK.pattern}"
    r"|\b(?:like|love|enjoy|prefer|adore)[sd]?\b|\bfavou?rite\b"
    r"|\b(?:after all|actually|still|fine|fun|cool|great|again|honestly|really|now)\b"
    r"|喜欢|热爱|喜爱|迷上了?|最爱|爱|其实|还是|还行|真的|很酷"
    r"|好玩|有意思|有趣|特别|非常|现在|了|好|很",
    re.IGNORECASE,
)


def speaks_against(text: str) -> bool:
    """Whether a text rejects what it is about."""
    return bool(_AGAINST.search(text))


def takes_back(text: str) -> bool:
    """Whether a text says that something said before was wrong."""
    return bool(_TAKES_BACK.search(text))


def topic_words(text: str) -> frozenset[str]:
    """The content words of a text without those that only say how one stands towards it."""
    return content_words(_ATTITUDE.sub(" ", text))
