"""Writing one line about a session: what mattered most in it, in the participant's own words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memlab.core.llm.offline.extraction import traits_of
from memlab.core.llm.offline.salience import intensity, self_disclosure, value_relevance
from memlab.core.llm.offline.sentences import SENTENCES, is_question

if TYPE_CHECKING:
    from memlab.core.values import Statement

_MOST = 2
_LONGEST = 80


def session_log(material: Sequence[Statement], *, language: str) -> str:
    """The line as JSON, with the ids of what it rests on; no entry if nothing was stated."""
    ranked = sorted(_weighed(material), key=lambda entry: -entry[0])[:_MOST]
    if not ranked:
        return json.dumps({"entries": []})
    chosen = sorted(ranked, key=lambda entry: entry[1])
    entry = {
        "text": ("; " if language == "en" else "；").join(text for _, _, text, _ in chosen),
        "messages": list(dict.fromkeys(message for *_, message in chosen)),
    }
    return json.dumps({"entries": [entry]}, ensure_ascii=False)


def _weighed(material: Sequence[Statement]) -> list[tuple[float, int, str, str]]:
    """Each sentence that states something: weight, position, text, message."""
    weighed = []
    for position, statement in enumerate(material):
        for sentence in SENTENCES.findall(statement.text):
            text = sentence.strip(" .。!！;；\n")[:_LONGEST].strip()
            if text and not is_question(sentence):
                weighed.append((_weight(text), position, text, statement.id))
    return weighed


def _weight(text: str) -> float:
    tells = 0.5 if next(traits_of(text), None) is not None else 0.0
    return tells + intensity(text) + self_disclosure(text) + value_relevance(text)
