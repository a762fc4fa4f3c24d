"""Whether somebody may be in danger, by a few plain wordings in both languages."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memlab.core.values import Statement

#: Wordings that are meant as they stand, with category and severity.
_SIGNS = (
    (
        "self_harm",
        "acute",
        re.compile(
            r"\bsuicide note\b|\b(?:going to|will) (?:kill myself|end my life)\b|遗书|今晚就死",
            re.I,
        ),
    ),
    (
        "self_harm",
        "serious",
        re.compile(
            r"\bkill myself\b|\bwant to die\b|\bend my life\b|想自杀|不想活了|想死(?![你他她])",
            re.I,
        ),
    ),
    (
        "harm_to_others",
        "serious",
        re.compile(r"\bwant to (?:kill|hurt) (?:him|her|them|you)\b|想杀了?(?:他|她|你)", re.I),
    ),
    (
        "abuse",
        "serious",
        re.compile(r"\b(?:he|she) (?:hits|beats) me\b|(?:老公|他|爸爸?|妈妈?)(?:又)?打我", re.I),
    ),
    ("danger", "acute", re.compile(r"\bbreaking into my\b|有人要杀我", re.I)),
    (
        "self_harm",
        "concern",
        re.compile(r"\b(?:no way out|can't go on|better off without me)\b|撑不下去|没有出路", re.I),
    ),
)


def screened_risk(material: Sequence[Statement]) -> str:
    """The risk in the last statement, as JSON."""
    said = material[-1].text if material else ""
    for category, severity, pattern in _SIGNS:
        if pattern.search(said):
            return json.dumps({"category": category, "severity": severity})
    return json.dumps({"category": "none", "severity": "none"})
