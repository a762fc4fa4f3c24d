"""Reading traits from what a participant said, by patterns in both languages.

Only `material` is read, sentence by sentence; questions, suppositions and other
people's words are left alone. A trait keeps the participant's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memlab.core.llm.offline.patterns import RULES, SUPPOSITION
from memlab.core.llm.offline.rule import Rule
from memlab.core.llm.offline.sentences import SENTENCES, statements_of, with_subjects
from memlab.core.llm.offline.words import feeling_in

if TYPE_CHECKING:
    from memlab.core.values import Statement

_LONGEST = 80
_PLAIN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that a statement tells about its speaker, in one of the profile's dimensions."""

    dimension: str
    key: str | None
    text: str
    emotion: str | None
    message: str

    def as_json(self) -> dict[str, str | None]:
        return {
            "dimension": self.dimension,
            "key": self.key,
            "text": self.text,
            "emotion": self.emotion,
            "message": self.message,
        }


def extracted_traits(material: Iterable[Statement], *, known: Sequence[str] = ()) -> str:
    """The new traits as JSON; `known` lines and repetitions are left out."""
    known_plain = [_plain(line) for line in known]
    traits: dict[tuple[str, str | None, str], Trait] = {}
    for statement in material:
        for trait in traits_of(statement.text, message=statement.id):
            identity = (trait.dimension, trait.key, _plain(trait.text))
            if not _is_known(trait, known_plain):
                traits.setdefault(identity, trait)
    return json.dumps(
        {"traits": [trait.as_json() for trait in traits.values()]}, ensure_ascii=False
    )


def traits_of(text: str, *, message: str = "") -> Iterator[Trait]:
    """What a text tells about its speaker, repetitions included."""
    for sentence in SENTENCES.findall(text):
        stated = with_subjects(statements_of(sentence))
        if SUPPOSITION.match(stated.strip()):
            continue
        for rule in RULES:
            for match in rule.pattern.finditer(stated):
                trait = _trait(rule, match, message)
                if trait is not None:
                    yield trait


def _trait(rule: Rule, match: re.Match[str], message: str) -> Trait | None:
    groups = {name: _trimmed(value or "") for name, value in match.groupdict().items()}
    text = _trimmed(rule.template.format(**groups)).removesuffix("了")
    if not all(groups[name] for name in rule.needed) or len(text) > _LONGEST:
        return None
    feeling = feeling_in(match.group(0)) if rule.felt else None
    emotion = feeling.named(rule.language) if feeling else None
    return Trait(rule.dimension, rule.key, text, emotion, message)


def _trimmed(text: str) -> str:
    return text.strip(" \t,，、:：\"'“”‘’。.!！~～")


def _plain(text: str) -> str:
    return _PLAIN.sub("", text.lower())


def _is_known(trait: Trait, known: Sequence[str]) -> bool:
    """Whether a known line holds the trait: for a named fact, as its value or under its key."""
    text = _plain(trait.text)
    if trait.key is None:
        return any(text in line for line in known)
    named = _plain(trait.key) + text
    return any(line == text or named in line or line.endswith(text) for line in known)
