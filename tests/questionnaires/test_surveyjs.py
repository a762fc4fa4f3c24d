"""What a questionnaire is compiled to, and in which order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questionnaires import ordering
from questionnaires.content import Condition, InstrumentContent, Text
from questionnaires.enums import ItemType
from questionnaires.surveyjs import compiled
from scripts.draw_pictures import FOLDER, common_share, distance_for, drawn
from tests.questionnaires.asked import AGREE, EVERYTHING, LIKERT, PETS, item


def pages(content: InstrumentContent, language: str = "en") -> list[list[dict[str, object]]]:
    survey = compiled(
        content, seed="seed", language=language, picture=lambda lang, point: f"/{lang}/{point}"
    )
    return [page["elements"] for page in survey["pages"]]


def test_survey_leaves_the_frame_to_the_page() -> None:
    survey = compiled(PETS, seed="seed", language="zh-hans", picture=lambda *_: "")
    assert {name: value for name, value in survey.items() if name != "pages"} == {
        "locale": "zh-cn",
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
    }


def test_like_items_make_one_matrix() -> None:
    (first, _second, _third) = pages(PETS)
    assert first == [
        {
            "type": "matrix",
            "name": "likert like_1",
            "title": "Please choose one answer in each row.",
            "columns": [
                {"value": 1, "text": "1\nDisagree"},
                {"value": 2, "text": "2"},
                {"value": 3, "text": "3"},
                {"value": 4, "text": "4"},
                {"value": 5, "text": "5"},
                {"value": 6, "text": "6"},
                {"value": 7, "text": "7\nAgree"},
            ],
            "rows": [
                {"value": "like_1", "text": "like_1?"},
                {"value": "like_2", "text": "like_2?"},
                {"value": "check", "text": "check?"},
            ],
            "eachRowRequired": True,
        }
    ]


def test_items_of_another_scale_make_another_matrix() -> None:
    other = item("other", ItemType.LIKERT, **{**AGREE, "maximum": 5.0})
    (page,) = pages(replace(PETS, items=(*LIKERT, other)))
    assert [element["name"] for element in page] == ["likert like_1", "likert other"]


def test_every_type_is_compiled_in_the_study_language() -> None:
    (page,) = pages(EVERYTHING, "zh-hans")
    title = {"isRequired": True}
    assert page[1:] == [
        {
            "name": "one",
            "title": "one？",
            **title,
            "type": "radiogroup",
            "choices": [{"value": 1, "text": "red"}, {"value": 2, "text": "green"}],
        },
        {
            "name": "some",
            "title": "some？",
            "isRequired": False,
            "type": "checkbox",
            "choices": [{"value": 1, "text": "left"}, {"value": 2, "text": "right"}],
            "description": "选填",
        },
        {
            "name": "slide",
            "title": "slide？",
            **title,
            "type": "slider",
            "min": 0.0,
            "max": 10.0,
            "step": 0.5,
            "customLabels": [{"value": 0.0, "text": "0"}, {"value": 10.0, "text": "10"}],
        },
        {
            "name": "warm",
            "title": "warm？",
            **title,
            "type": "rating",
            "displayMode": "buttons",
            "rateValues": [1, 2, 3, 4, 5],
            "minRateDescription": "不同意",
            "maxRateDescription": "同意",
        },
        {
            "name": "ios",
            "title": "ios？",
            **title,
            "type": "imagepicker",
            "imageFit": "contain",
            "showLabel": False,
            "choices": [
                {
                    "value": number,
                    "imageLink": f"/zh-hans/{number}",
                    "text": f"图 {number}（共 7 幅）：“我”和“AI”两个圆，{how}",
                }
                for number, how in enumerate(
                    ["并排、没有重叠"]
                    + [f"重叠部分占面积的 {share}%" for share in (15, 30, 45, 60, 75, 90)],
                    start=1,
                )
            ],
        },
        {
            "name": "years",
            "title": "years？",
            **title,
            "type": "text",
            "inputType": "number",
            "min": 0.0,
            "max": 120.0,
            "step": 1.0,
        },
        {
            "name": "words",
            "title": "words？",
            "isRequired": False,
            "type": "comment",
            "maxLength": 5000,
            "rows": 4,
            "description": "选填",
        },
        {
            "name": "day",
            "title": "day？",
            "isRequired": False,
            "type": "text",
            "inputType": "date",
            "description": "选填",
        },
    ]


@pytest.mark.parametrize(
    ("condition", "expression"),
    [
        (("like_2", ">=", 4), "{likert like_1.like_2} notempty and {likert like_1.like_2} >= 4"),
        (("one", "==", 2), "{one} notempty and {one} = 2"),
        (("one", "in", [1, 2]), "{one} notempty and {one} anyof [1, 2]"),
        (("some", "==", 1), "{some} notempty and {some} contains 1"),
        (("some", "!=", 1), "{some} notempty and {some} notcontains 1"),
        (("some", "in", [1]), "{some} notempty and {some} anyof [1]"),
        (("words", "!=", "it's"), "{words} notempty and {words} != 'it\\'s'"),
    ],
)
def test_condition_becomes_an_expression(
    condition: tuple[str, str, object], expression: str
) -> None:
    code, operator, value = condition
    last = item(
        "last",
        ItemType.TEXT,
        condition=Condition(item=code, operator=operator, value=value),
    )
    (page,) = pages(replace(EVERYTHING, items=(*EVERYTHING.items, last)))
    assert page[-1]["visibleIf"] == expression


def order(content: InstrumentContent, seed: str) -> list[str]:
    return [each.code for page in ordering.pages(content, seed=seed) for each in page]


def test_order_is_the_instruments_unless_it_is_random() -> None:
    assert order(PETS, "any") == ["like_1", "like_2", "check", "pet", "why", "name"]


def test_random_order_follows_from_the_seed() -> None:
    shuffled = replace(EVERYTHING, randomised=True)
    assert order(shuffled, "a") == order(shuffled, "a")
    assert len({tuple(order(shuffled, str(seed))) for seed in range(20)}) == 20


@settings(max_examples=50, deadline=None)
@given(seed=st.text(max_size=8))
def test_random_order_keeps_pages_and_dependants(seed: str) -> None:
    follower = item(
        "after_one", ItemType.TEXT, condition=Condition(item="one", operator="==", value=1)
    )
    more = item("later", ItemType.TEXT, page=2)
    content = replace(EVERYTHING, randomised=True, items=(*EVERYTHING.items, follower, more))
    codes = order(content, seed)
    assert sorted(codes) == sorted(each.code for each in content.items)
    assert codes.index("after_one") == codes.index("one") + 1
    assert codes[-1] == "later"


@pytest.mark.parametrize("name", sorted(drawn()))
def test_picture_is_the_one_that_the_script_draws(name: str) -> None:
    assert Path(FOLDER / name).read_text(encoding="utf-8") == drawn()[name]


@pytest.mark.parametrize("share", [0.15, 0.3, 0.45, 0.6, 0.75, 0.9])
def test_circles_share_what_they_should(share: float) -> None:
    assert common_share(distance_for(share)) == pytest.approx(share, abs=1e-9)


def test_text_without_translation_is_shown_in_the_other_language() -> None:
    only = replace(PETS, items=(item("only", ItemType.TEXT, text=Text(en="Only English")),))
    assert pages(only, "zh-hans")[0][0]["title"] == "Only English"
