"""Factors, levels and rules of screening, as staff declare them."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from experiments.enums import Moment
from experiments.facts import Source
from experiments.models import Lab
from experiments.screening import ScreenOutRule, screen_out_rules
from experiments.strata import Factor, factors, stratum
from memlab.core.tenancy import lab_scope
from tests.studies import make_study

AGE = {
    "name": "age",
    "source": "screening:age_group",
    "levels": {"young": [1, 2], "old": [3]},
}
TRUST = {"name": "trust", "source": "baseline:score:trust", "cuts": [3.5, 5]}


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("screening:age", Source(Moment.SCREENING, "age")),
        ("baseline:score:trust", Source(Moment.BASELINE, "trust", score=True)),
        ("after:t1:mood", Source(Moment.AFTER, "mood", stage="t1")),
        ("after:t1:score:mood", Source(Moment.AFTER, "mood", stage="t1", score=True)),
    ],
)
def test_a_source_is_read(text: str, source: Source) -> None:
    assert Source.parse(text) == source


@pytest.mark.parametrize(
    "text", ["", "age", "screening", "screening:", "later:x", "after:mood", "screening:a:b", "::"]
)
def test_a_source_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="names no answer or score"):
        Source.parse(text)


@pytest.mark.parametrize(
    ("declared", "value", "level"),
    [
        (AGE, 2, "young"),
        (AGE, 3, "old"),
        (AGE, 4, "unknown"),
        (AGE, None, "unknown"),
        (TRUST, 3.4, "<3.5"),
        (TRUST, 3.5, "3.5-5"),
        (TRUST, 5, ">=5"),
        (TRUST, "high", "unknown"),
        ({"name": "sex", "source": "screening:sex"}, "f", "f"),
        ({"name": "sex", "source": "screening:sex"}, "a/b=c", "a_b_c"),
        ({"name": "sex", "source": "screening:sex"}, [1, 2], "unknown"),
    ],
)
def test_a_value_has_a_level(declared: dict[str, Any], value: Any, level: str) -> None:
    assert Factor.from_json(declared).level(value) == level


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (["age"], "A factor has a name"),
        ([{"name": "age"}], "A factor has a name"),
        ([{**AGE, "colour": 1}], "A factor has a name"),
        ([{**AGE, "name": "Age group"}], "is no name"),
        ([{**AGE, "cuts": [1]}], "has levels and cuts"),
        ([{**AGE, "levels": {"young": 1}}], "each with a list of answers"),
        ([{**AGE, "levels": {"a": [1], "b": [1]}}], "in two levels"),
        ([{**TRUST, "cuts": [5, 3]}], "rising numbers"),
        ([{**TRUST, "cuts": ["5"]}], "rising numbers"),
        ([AGE, AGE], "the same name"),
        ([{**AGE, "name": f"f{number}"} for number in range(5)], "At most four factors"),
    ],
)
def test_bad_factors_are_refused_with_the_reason(declared: list[Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        factors(declared)


def test_a_stratum_is_named_by_its_levels() -> None:
    assert stratum({"age": "old", "trust": "<3.5"}) == "age=old/trust=<3.5"
    assert stratum({}) == "all"


@pytest.mark.parametrize(
    ("operator", "value", "answer", "holds"),
    [
        ("==", 1, 1, True),
        ("==", 1, 2, False),
        ("!=", 1, 2, True),
        ("!=", 1, None, False),
        ("in", [1, 5], 5, True),
        ("in", [1, 5], 2, False),
        ("in", [1, 5], [2, 5], True),
        ("==", 3, [1, 3], True),
        ("!=", 3, [1, 3], False),
        ("<", 18, 17, True),
        (">=", 18, 18, True),
        ("<", 18, "17", False),
        ("<=", 18, None, False),
    ],
)
def test_a_rule_holds(operator: str, value: Any, answer: Any, holds: bool) -> None:
    rule = ScreenOutRule.from_json({"source": "screening:x", "operator": operator, "value": value})
    assert rule.holds(answer) is holds


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("x", "A rule has a source"),
        ({"source": "screening:x", "operator": "=="}, "A rule has a source"),
        ({"source": "baseline:x", "operator": "==", "value": 1}, "only answers of the screening"),
        ({"source": "screening:x", "operator": "~", "value": 1}, "is no operator"),
        ({"source": "screening:x", "operator": "in", "value": 1}, "needs a list"),
        ({"source": "screening:x", "operator": "<", "value": "1"}, "compares with a number"),
        ({"source": "screening:x", "operator": "==", "value": [1]}, "compares with one answer"),
    ],
)
def test_bad_rules_are_refused_with_the_reason(declared: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        screen_out_rules([declared])


@pytest.mark.django_db
@pytest.mark.parametrize("field", ["strata", "screen_out"])
def test_a_study_names_the_field_at_fault(lab: Lab, field: str) -> None:
    study = make_study(lab)
    for wrong in ({"name": "x"}, [1]):
        setattr(study, field, wrong)
        with lab_scope(lab.pk), pytest.raises(ValidationError) as refused:
            study.clean()
        assert list(refused.value.message_dict) == [field]
