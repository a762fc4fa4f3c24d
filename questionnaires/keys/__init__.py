"""Scoring keys of scales whose wording is others': codes, subscales, reversed items, source.

The wording is left empty for the lab to paste, and until then such an instrument is never
published: an item without a text can't be asked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from questionnaires.content import InstrumentContent, ItemContent, Text
from questionnaires.enums import ItemType, ScoreKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringKey:
    """An instrument without words, and what to know before pasting them."""

    content: InstrumentContent
    licence: str

    def in_languages(self, *languages: str) -> InstrumentContent:
        """The content with a title in these languages ("en", "zh") alone: only a language that has
        begun has to be complete."""
        title = self.content.title
        return replace(
            self.content,
            title=Text(
                en=title.en if "en" in languages else "", zh=title.zh if "zh" in languages else ""
            ),
        )


@cache
def scoring_keys() -> dict[str, ScoringKey]:
    """All keys that are shipped, by the instrument's key."""
    files = sorted(Path(__file__).parent.glob("*.json"))
    found = [_key(json.loads(file.read_text(encoding="utf-8"))) for file in files]
    return {each.content.key: each for each in found}


def _key(shipped: dict[str, Any]) -> ScoringKey:
    return ScoringKey(
        content=InstrumentContent(
            key=shipped["key"],
            title=Text(en=shipped["title"], zh=shipped["title_zh"]),
            citation=shipped["citation"],
            score=ScoreKind(shipped["score"]),
            items=tuple(
                ItemContent(
                    code=item["code"],
                    type=ItemType.LIKERT,
                    text=Text(),
                    minimum=float(shipped["minimum"]),
                    maximum=float(shipped["maximum"]),
                    reverse=item["reverse"],
                    subscale=item["subscale"],
                )
                for item in shipped["items"]
            ),
        ),
        licence=shipped["licence"],
    )
