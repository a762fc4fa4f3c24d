"""A questionnaire as SurveyJS reads it. Pure: content, seed and language in, JSON out.

SurveyJS only shows and collects; what counts is checked again in ``questionnaires.validation``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from questionnaires.content import Condition, InstrumentContent, ItemContent, Text
from questionnaires.enums import ItemType
from questionnaires.ordering import pages
from questionnaires.points import label, points
from questionnaires.validation import TEXT_LIMIT

#: Where the picture of a point is found: (language, point) → address.
Pictures = Callable[[str, int], str]

ONE_A_ROW = Text(en="Please choose one answer in each row.", zh="请在每一行选择一个答案。")
OPTIONAL = Text(en="Optional", zh="选填")
PICTURED = Text(
    en="Picture {number} of {count}: two circles, “You” and “AI”, {how}",
    zh="图 {number}（共 {count} 幅）：“我”和“AI”两个圆，{how}",
)
APART = Text(en="side by side without overlapping", zh="并排、没有重叠")
OVERLAPPING = Text(en="overlapping by {share} % of their area", zh="重叠部分占面积的 {share}%")


def compiled(
    content: InstrumentContent, *, seed: str, language: str, picture: Pictures
) -> dict[str, Any]:
    """The survey's JSON, with items in the order that this seed gives."""
    paths = Paths(content, seed)
    return {
        "locale": "zh-cn" if language.startswith("zh") else "en",
        "showTitle": False,
        "showNavigationButtons": False,
        "showCompletePage": False,
        "showQuestionNumbers": False,
        "requiredMark": "",
        "questionErrorLocation": "bottom",
        "clearInvisibleValues": "onHidden",
        "textUpdateMode": "onTyping",
        "autoFocusFirstQuestion": False,
        "widthMode": "responsive",
        "pages": [
            {
                "name": f"page {number}",
                "elements": [
                    _element(name, run, paths, language, picture) for name, run in paths.runs(items)
                ],
            }
            for number, items in enumerate(pages(content, seed=seed), start=1)
        ],
    }


class Paths:
    """Under which name SurveyJS knows an item: its code, or the matrix and its code in there.

    A matrix is named after its first item and with a space, which no code contains.
    """

    def __init__(self, content: InstrumentContent, seed: str) -> None:
        self._items = {item.code: item for item in content.items}
        self._of = {
            item.code: f"{name}.{item.code}" if item.type == ItemType.LIKERT else item.code
            for items in pages(content, seed=seed)
            for name, run in self.runs(items)
            for item in run
        }

    @staticmethod
    def runs(items: tuple[ItemContent, ...]) -> Iterator[tuple[str, tuple[ItemContent, ...]]]:
        """What is shown as one question: a run of like Likert items, or any other item alone."""
        for _, together in groupby(items, key=_likeness):
            run = tuple(together)
            if run[0].type == ItemType.LIKERT:
                yield f"likert {run[0].code}", run
            else:
                yield run[0].code, run

    def expression(self, condition: Condition) -> str:
        """When to show an item. One that has no answer fulfils no condition."""
        path = "{" + self._of[condition.item] + "}"
        value = _literal(condition.value)
        if self._items[condition.item].type == ItemType.MULTIPLE:
            test = _of_several(path, condition.operator, value)
        elif condition.operator == "in":
            test = f"{path} anyof {value}"
        else:
            test = f"{path} {'=' if condition.operator == '==' else condition.operator} {value}"
        return f"{path} notempty and {test}"


def _literal(value: Any) -> str:
    """A value in SurveyJS's expressions."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_literal(each) for each in value) + "]"
    return json.dumps(value)


def _of_several(path: str, operator: str, value: str) -> str:
    """A condition on an item with several answers asks whether one of them was given."""
    if operator == "in":
        return f"{path} anyof {value}"
    return f"{path} {'notcontains' if operator == '!=' else 'contains'} {value}"


def _likeness(item: ItemContent) -> tuple[object, ...]:
    """What neighbouring Likert items have in common to share a matrix; else the item's own code."""
    if item.type != ItemType.LIKERT:
        return (item.code,)
    return (points(item), item.options, item.low, item.high, item.required)


def _element(
    name: str,
    run: tuple[ItemContent, ...],
    paths: Paths,
    language: str,
    picture: Pictures,
) -> dict[str, Any]:
    if run[0].type == ItemType.LIKERT:
        return _matrix(name, run, paths, language)
    (item,) = run
    element: dict[str, Any] = {
        "name": name,
        "title": item.text.told(language),
        "isRequired": item.required,
        **_of_type(item, language, picture),
    }
    if not item.required:
        element["description"] = OPTIONAL.told(language)
    if item.condition is not None:
        element["visibleIf"] = paths.expression(item.condition)
    return element


def _matrix(name: str, run: tuple[ItemContent, ...], paths: Paths, language: str) -> dict[str, Any]:
    rows = []
    for item in run:
        row = {"value": item.code, "text": item.text.told(language)}
        if item.condition is not None:
            row["visibleIf"] = paths.expression(item.condition)
        rows.append(row)
    return {
        "type": "matrix",
        "name": name,
        "title": (ONE_A_ROW if run[0].required else OPTIONAL).told(language),
        "columns": _columns(run[0], language),
        "rows": rows,
        "eachRowRequired": run[0].required,
    }


def _columns(item: ItemContent, language: str) -> list[dict[str, Any]]:
    """Points with their names; where only the ends have one, with their numbers too."""
    choices = _choices(item, language)
    if any(choice["text"] == str(choice["value"]) for choice in choices):
        for choice in choices:
            if choice["text"] != str(choice["value"]):
                choice["text"] = f"{choice['value']}\n{choice['text']}"
    return choices


def _choices(item: ItemContent, language: str) -> list[dict[str, Any]]:
    return [
        {"value": point, "text": label(item, point, language) or str(point)}
        for point in points(item)
    ]


def _of_type(item: ItemContent, language: str, picture: Pictures) -> dict[str, Any]:
    match item.type:
        case ItemType.SINGLE:
            return {"type": "radiogroup", "choices": _choices(item, language)}
        case ItemType.MULTIPLE:
            return {"type": "checkbox", "choices": _choices(item, language)}
        case ItemType.DIFFERENTIAL:
            return _rating(item, language)
        case ItemType.PICTURE:
            return _pictures(item, language, picture)
        case ItemType.SLIDER:
            return _slider(item, language)
        case ItemType.NUMBER:
            bounds = {"min": item.minimum, "max": item.maximum, "step": item.step}
            return {"type": "text", "inputType": "number", **_given(bounds)}
        case ItemType.DATE:
            return {"type": "text", "inputType": "date"}
        case _:
            return {"type": "comment", "maxLength": TEXT_LIMIT, "rows": 4}


def _given(fields: dict[str, float | None]) -> dict[str, float]:
    return {name: number for name, number in fields.items() if number is not None}


def _rating(item: ItemContent, language: str) -> dict[str, Any]:
    offered = points(item)
    return {
        "type": "rating",
        "displayMode": "buttons",
        "rateValues": list(offered),
        "minRateDescription": label(item, offered[0], language),
        "maxRateDescription": label(item, offered[-1], language),
    }


def _slider(item: ItemContent, language: str) -> dict[str, Any]:
    assert item.minimum is not None
    assert item.maximum is not None
    ends = ((item.minimum, item.low), (item.maximum, item.high))
    return {
        "type": "slider",
        "min": item.minimum,
        "max": item.maximum,
        "step": item.step or 1,
        "customLabels": [
            {"value": value, "text": text.told(language) or f"{value:g}"} for value, text in ends
        ],
    }


def _pictures(item: ItemContent, language: str, picture: Pictures) -> dict[str, Any]:
    offered = points(item)
    return {
        "type": "imagepicker",
        "imageFit": "contain",
        "showLabel": False,
        "choices": [
            {
                "value": point,
                "imageLink": picture(language, point),
                "text": described(number, len(offered), language),
            }
            for number, point in enumerate(offered, start=1)
        ],
    }


def described(number: int, count: int, language: str) -> str:
    """What a picture shows, for whoever doesn't see it."""
    share = round(100 * overlap(number))
    how = OVERLAPPING.told(language).format(share=share) if share else APART.told(language)
    return PICTURED.told(language).format(number=number, count=count, how=how)


def overlap(number: int) -> float:
    """Which share of a circle's area the ``number``-th picture's circles have in common."""
    return 0.15 * (number - 1)
