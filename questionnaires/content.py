"""What a questionnaire consists of: frozen values, as a version stores them. Pure.

Everything at run time (rendering, validation, scoring) reads these, never the rows that staff edit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from questionnaires.enums import ItemType, MissingRule, ScoreKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The same words in the languages of the platform; one may be empty."""

    en: str = ""
    zh: str = ""

    def told(self, language: str) -> str:
        """In ``language`` ("en" or "zh-hans"), or in the other one where that is missing."""
        mine, other = (self.zh, self.en) if language.startswith("zh") else (self.en, self.zh)
        return mine or other


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An answer that can be chosen. ``value`` is what is stored and scored."""

    value: int
    label: Text = Text()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Show an item only if an earlier one of the same questionnaire was answered so.

    ``operator`` is one of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``; ``value`` is a
    number, a text, or for ``in`` a list of them. An item that wasn't shown fulfils no condition.
    """

    item: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemContent:
    """One item. ``minimum`` and ``maximum`` bound sliders, numbers and the points of a Likert,
    differential or picture item; ``low`` and ``high`` name its ends; ``options`` name its points or
    are the choices of ``single`` and ``multiple``. ``page`` counts from 1. ``expected`` makes it an
    attention check, which is in no score. ``reverse`` scores ``minimum + maximum − value``."""

    code: str
    type: ItemType
    text: Text
    page: int = 1
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    low: Text = Text()
    high: Text = Text()
    options: tuple[Option, ...] = ()
    reverse: bool = False
    subscale: str = ""
    required: bool = True
    expected: float | None = None
    condition: Condition | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the greatest answer, by the options where there are some; None if open."""
        if self.options:
            values = [option.value for option in self.options]
            return float(min(values)), float(max(values))
        if self.minimum is None or self.maximum is None:
            return None
        return self.minimum, self.maximum

    @property
    def is_check(self) -> bool:
        """Whether it is an attention check."""
        return self.expected is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentContent:
    """A whole instrument.

    ``missing_share`` is the share of a subscale's items, in (0, 1], that must be answered for a
    score under ``MissingRule.SHARE``. ``randomised``: items are shuffled within their page, by the
    response's stored seed; conditional items stay behind what they depend on.
    """

    key: str
    title: Text
    introduction: Text = Text()
    citation: str = ""
    validated: bool = False
    randomised: bool = False
    score: ScoreKind = ScoreKind.MEAN
    missing: MissingRule = MissingRule.NONE
    missing_share: float = 1.0
    items: tuple[ItemContent, ...]

    def item(self, code: str) -> ItemContent:
        """The item with this code. Raises KeyError."""
        for item in self.items:
            if item.code == code:
                return item
        raise KeyError(code)

    def as_json(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]

    def sha256(self) -> str:
        """Hash of the canonical JSON: the identity of a version."""
        canonical = json.dumps(
            self.as_json(), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        return hashlib.sha256(canonical.encode()).hexdigest()

    @classmethod
    def from_json(cls, frozen: Mapping[str, Any]) -> Self:
        return cls(
            **{
                **frozen,
                "title": Text(**frozen["title"]),
                "introduction": Text(**frozen["introduction"]),
                "score": ScoreKind(frozen["score"]),
                "missing": MissingRule(frozen["missing"]),
                "items": tuple(_item(item) for item in frozen["items"]),
            }
        )


def _item(frozen: Mapping[str, Any]) -> ItemContent:
    condition = frozen["condition"]
    return ItemContent(
        **{
            **frozen,
            "type": ItemType(frozen["type"]),
            **{name: Text(**frozen[name]) for name in ("text", "low", "high")},
            "options": tuple(
                Option(value=option["value"], label=Text(**option["label"]))
                for option in frozen["options"]
            ),
            "condition": None if condition is None else Condition(**condition),
        }
    )
