"""Scoring against numbers reckoned by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questionnaires.content import InstrumentContent
from questionnaires.enums import ItemType, MissingRule, ScoreKind
from questionnaires.scoring import SubscaleScore, reversed_value, scored, subscales
from tests.questionnaires.instruments import CLOSENESS, choice, instrument, item

TRUST = instrument(
    item("c1", subscale="cognitive"),
    item("c2", subscale="cognitive", reverse=True),
    item("c3", subscale="cognitive"),
    item("c4", subscale="cognitive"),
    item("a1", subscale="affective"),
    item("a2", subscale="affective"),
    item("check", expected=3.0),
    item("why", ItemType.TEXT),
    missing=MissingRule.SHARE,
    missing_share=0.75,
)
ANSWERS: dict[str, float | None] = {
    "c1": 6.0,
    "c2": 2.0,
    "c3": 5.0,
    "c4": 4.0,
    "a1": 7.0,
    "a2": 4.0,
    "check": 3.0,
}


def scores_of(content: InstrumentContent, **changed: float | None) -> dict[str, SubscaleScore]:
    return {each.subscale: each for each in scored(content, ANSWERS | changed).scores}


def test_means_of_subscales_with_a_reversed_item() -> None:
    result = scored(TRUST, ANSWERS)
    assert result.scored == {
        "c1": 6.0,
        "c2": 6.0,  # 1 + 7 − 2
        "c3": 5.0,
        "c4": 4.0,
        "a1": 7.0,
        "a2": 4.0,
        "check": 3.0,
        "why": None,
    }
    assert result.scores == (
        SubscaleScore(subscale="cognitive", value=5.25, answered=4, items=4),
        SubscaleScore(subscale="affective", value=5.5, answered=2, items=2),
    )
    assert (result.attention_checks, result.attention_failures) == (1, 0)


def test_sums_of_subscales() -> None:
    assert [each.value for each in scored(replace(TRUST, score=ScoreKind.SUM), ANSWERS).scores] == [
        21.0,
        11.0,
    ]


def test_a_sum_of_whole_numbers_is_whole() -> None:
    """29 / 7 · 7 is 29.000000000000004."""
    content = instrument(*(item(f"m{n}") for n in range(7)), score=ScoreKind.SUM)
    answers = dict(
        zip((f"m{n}" for n in range(7)), (5.0, 5.0, 5.0, 5.0, 5.0, 2.0, 2.0), strict=True)
    )
    assert scored(content, answers).scores[0].value == 29.0


@pytest.mark.parametrize(
    ("rule", "share", "kind", "missing", "expected"),
    [
        (MissingRule.NONE, 0.75, ScoreKind.MEAN, ["c1"], None),
        (MissingRule.SHARE, 0.75, ScoreKind.MEAN, ["c1"], 5.0),  # (6 + 5 + 4) / 3
        (MissingRule.SHARE, 0.75, ScoreKind.SUM, ["c1"], 20.0),  # times four items
        (MissingRule.SHARE, 0.75, ScoreKind.MEAN, ["c1", "c2"], None),
        (MissingRule.SHARE, 0.5, ScoreKind.MEAN, ["c1", "c2"], 4.5),
        (MissingRule.SHARE, 0.25, ScoreKind.SUM, ["c1", "c2", "c3"], 16.0),
        (MissingRule.SHARE, 0.01, ScoreKind.MEAN, ["c1", "c2", "c3", "c4"], None),
        (MissingRule.SHARE, 1.0, ScoreKind.MEAN, [], 5.25),
    ],
)
def test_the_declared_rule_for_what_is_missing(
    rule: MissingRule, share: float, kind: ScoreKind, missing: list[str], expected: float | None
) -> None:
    content = replace(TRUST, missing=rule, missing_share=share, score=kind)
    found = scores_of(content, **dict.fromkeys(missing))["cognitive"]
    assert (found.value, found.answered, found.items) == (expected, 4 - len(missing), 4)


def test_a_third_of_three_items_is_a_third() -> None:
    content = instrument(
        *(item(f"m{n}") for n in (1, 2, 3)), missing=MissingRule.SHARE, missing_share=1 / 3
    )
    assert scored(content, {"m1": 2.0}).scores[0].value == 2.0


@pytest.mark.parametrize(("answer", "failures"), [(3.0, 0), (4.0, 1), (None, 0)])
def test_attention_checks(answer: float | None, failures: int) -> None:
    assert scored(TRUST, ANSWERS | {"check": answer}).attention_failures == failures


def test_without_named_subscales_the_scales_make_one() -> None:
    content = instrument(
        item("m1"),
        item("m2", ItemType.SLIDER, minimum=0.0, maximum=100.0),
        item("check", expected=1.0),
        item("gender", ItemType.SINGLE, options=choice(1, 2)),
        item("age", ItemType.NUMBER),
        item("why", ItemType.TEXT),
    )
    assert {name: [each.code for each in items] for name, items in subscales(content).items()} == {
        "": ["m1", "m2"]
    }
    assert subscales(instrument(item("why", ItemType.TEXT))) == {}
    assert list(subscales(CLOSENESS)) == ["warm"]


def test_reversing_goes_by_the_items_own_scale() -> None:
    named = item("n", options=choice(0, 1, 2, 3, 4), reverse=True)
    slider = item("s", ItemType.SLIDER, minimum=-50.0, maximum=50.0, reverse=True)
    assert (reversed_value(named, 1.0), reversed_value(slider, 20.0)) == (3.0, -20.0)
    assert reversed_value(named, None) is None


def test_a_number_off_the_scale_is_never_scored() -> None:
    with pytest.raises(ValueError, match=r"c1: .* lies outside 1 to 7"):
        scored(TRUST, ANSWERS | {"c1": 8.0})


answers = st.dictionaries(
    st.sampled_from(["c1", "c2", "c3", "c4", "a1", "a2"]), st.integers(1, 7).map(float)
)


@settings(max_examples=50, deadline=None)
@given(answers)
def test_a_score_lies_on_the_scale_and_reversing_twice_changes_nothing(
    given_answers: dict[str, float | None],
) -> None:
    for score in scored(TRUST, given_answers).scores:
        assert score.value is None or 1.0 <= score.value <= 7.0
    turned = scored(TRUST, given_answers).scored
    assert scored(TRUST, turned).scored["c2"] == given_answers.get("c2")
