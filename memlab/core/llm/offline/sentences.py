"""Cutting what somebody said into sentences and clauses, and telling questions apart."""

from __future__ import annotations

import re

SENTENCES = re.compile(r"[^。！？!?.;；\n]+[。！？!?.;；\n]*")


_ASKS_AT_ITS_END = re.compile(r"[?？]\s*[”\"')）]*$|[吗呢][。.]?$")
_ASKING_WORD = re.compile(
    r"什么|谁|哪|怎么|多少|几[个岁点]|是不是|有没有|记不记得"
    r"|^\s*(?:what|who|where|when|why|how|which|do|does|did|can|could|are|is|have|has)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[^，,]+[，,]?")


def is_question(sentence: str) -> bool:
    """Whether a sentence asks."""
    return bool(_ASKS_AT_ITS_END.search(sentence.strip()))


def statements_of(sentence: str) -> str:
    """What a sentence states: all of it, or of a question the clauses before it asks."""
    if not is_question(sentence):
        return sentence
    clauses = _CLAUSE.findall(sentence)[:-1]
    return "".join(clause for clause in clauses if not _ASKING_WORD.search(clause))


_SPEAKER_CLAUSE = re.compile(
    r"\s*(?:其实|说实话|现在|最近|今天|目前|，)*我(?!妈|爸|父|母"
    r"|奶|爷|外|姐|妹|哥|弟|女|儿|孩|老[公婆师板]"
    r"|丈|妻|男朋|女朋|室友|闺|朋友|同事|导师|的|家|们)"
)
_WITHOUT_SUBJECT = re.compile(
    r"(?:也|还|都|现在|目前|今年|平时|一直)*(?:是[一个名位]|在"
    r"|住|来自|不?喜欢|爱|讨厌|对.{1,12}过敏|不能|打算"
    r"|想|准备|正在|希望|养了?|有[一两三]|比较|今年|\d{1,3}岁|觉得|很|看重|害怕)"
)


def with_subjects(sentence: str) -> str:
    """Chinese leaves out a subject that stays the same; put the speaker's 我 back in."""
    clauses = _CLAUSE.findall(sentence)
    speaking = False
    completed = []
    for clause in clauses:
        own = bool(_SPEAKER_CLAUSE.match(clause))
        continued = speaking and not own and bool(_WITHOUT_SUBJECT.match(clause))
        completed.append("我" + clause if continued else clause)
        speaking = own or continued
    return "".join(completed)
