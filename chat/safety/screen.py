"""The risk screen: rules in English and in Chinese over any text, whoever wrote it.

Pure, and it knows no study, arm or language setting: both languages are always tried. It would
rather be wrong once too often than miss somebody; docs/safety.md says how often it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from chat.safety import rules_chinese, rules_english
from chat.safety.enums import Category, Severity
from chat.safety.wording import normalised, sentences, undisguised

#: The most serious first, so that the first match is the answer.
RULES = sorted(
    (*rules_english.RULES, *rules_chinese.RULES), key=lambda rule: rule.severity.rank, reverse=True
)


@dataclass(frozen=True, slots=True)
class Risk:
    """What a rule recognised; never the text in which it did."""

    category: Category
    severity: Severity
    rule: str


def screened(text: str) -> Risk | None:
    """The most serious risk in ``text``, or None."""
    plain = normalised(text)
    parts = sentences(plain)
    meant = undisguised(plain)
    if meant != plain:
        parts += sentences(meant)
    for rule in RULES:
        if any(rule.matches(part) for part in parts):
            return Risk(rule.category, rule.severity, rule.name)
    return None
