"""The shape of a rule of the risk screen, and what a match must not be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chat.safety.enums import Category, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``pattern`` is looked for in every sentence; the sentence must not hold ``unless``.

    ``negatable``: a match right behind a negation is none. Off where the wording holds one itself.
    """

    name: str
    category: Category
    severity: Severity
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    negatable: bool = True

    def matches(self, sentence: str) -> bool:
        if self.pattern.search(sentence) is None:
            return False
        if self.unless is not None and self.unless.search(sentence):
            return False
        return not self.negatable or any(
            not negated(sentence, match) for match in self.pattern.finditer(sentence)
        )


def rule_of(
    language: str,
    name: str,
    category: Category,
    severity: Severity,
    pattern: str,
    *,
    unless: str | None = None,
    negatable: bool = True,
) -> Rule:
    """A rule whose name begins with its language, from patterns as they are written."""
    return Rule(
        name=f"{language}.{name}",
        category=category,
        severity=severity,
        pattern=re.compile(pattern),
        unless=None if unless is None else re.compile(unless),
        negatable=negatable,
    )


#: What may stand between an English negation and what it negates.
_BETWEEN = (
    r"going|gonna|go|to|want|wanna|wanted|wanting|really|actually|even|ever|be|been|being|have|had"
    r"|has|thinking|think|thought|thoughts|about|of|planning|plan|feel|feeling|feelings|any|a|the"
    r"|at all|trying|try|intend|intending|consider|considering|considered|that|i|would|will|am|was"
    r"|currently|just|like|having|i'd|i'll|could|can"
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|without|nor"
    r"|(?:would|wo|do|did|does|have|has|is|ai|are|was|were|should)n'?t)"
    rf"(?:\s+(?:{_BETWEEN}))*\s*$"
)
_NEGATION_CHINESE = re.compile(
    r"(?:不|没|没有|从未|绝不|别|无意)(?:真的|真|会|要|想|过|去|再|是|打算|有|可能|至于|敢|愿意?)*$"
)
#: Words with 不 or 没 that negate nothing.
_NO_NEGATION_CHINESE = re.compile(
    r"(?:不得不|不住|不如|恨不得|巴不得|怎么不|何不|不知道?|不停|不断|不只|不但|不仅"
    r"|[是会要该能想]不[是会要该能想])[^,，。]{0,4}$"
)
_ASKS_WHY = re.compile(r"\bwhy\b|为什么|为何|为啥|凭什么|怎么不")
_TURNS = re.compile(
    r"\b(?:but|though|although|yet|however|except|still|anyway)\b|但|可是|不过|却|然而"
)
_CLAUSE = re.compile(r"[,，、;；:：]|\b(?:and|so|because|but)\b")


def negated(sentence: str, match: re.Match[str]) -> bool:
    """Whether what matched is denied: "I would never …", "我没有…". Not so in a question for
    reasons ("why shouldn't I"), nor where the sentence turns afterwards ("…, but …")."""
    before = sentence[: match.start()]
    before = _CLAUSE.split(before)[-1]
    if _ASKS_WHY.search(before) or _TURNS.search(sentence, match.end()):
        return False
    if _NEGATION_CHINESE.search(before):
        return _NO_NEGATION_CHINESE.search(before) is None
    return _NEGATION.search(before) is not None
