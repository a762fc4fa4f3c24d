"""Both languages say everything."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from memory.architectures import confidence_desk, confidence_effects, confidence_tools
from memory.architectures.confidence_parameters import CATEGORIES, CONFIDENCE
from memory.architectures.confidence_tools import FIELDS
from memory.architectures.confidence_wording import CHINESE, ENGLISH, ConfidenceWording

_REFUSAL = re.compile(r"""RefusedCall\("(\w+)|outcome = "(\w+)"|return "(changed_meanwhile)\"""")


@pytest.mark.parametrize("words", [ENGLISH, CHINESE], ids=["en", "zh-hans"])
def test_every_tool_argument_and_category_is_worded(words: ConfidenceWording) -> None:
    assert set(words.descriptions) == set(FIELDS)
    assert set(words.arguments) == {name.rstrip("?") for tool in FIELDS.values() for name in tool}
    assert set(words.categories) == set(CATEGORIES)
    guidance = "\n".join(words.guidance)
    assert [tool for tool in FIELDS if tool not in guidance] == []


def test_every_refusal_is_worded_in_both_languages() -> None:
    codes = {"over_budget", "once_a_turn", "contradicts"}
    for module in (confidence_desk, confidence_effects, confidence_tools):
        source = inspect.getsource(module)
        codes |= {next(filter(None, found)) for found in _REFUSAL.findall(source)}
    assert set(ENGLISH.refusals) == set(CHINESE.refusals) == codes


def test_the_languages_differ() -> None:
    same = [
        field.name
        for field in fields(ConfidenceWording)
        if getattr(ENGLISH, field.name) == getattr(CHINESE, field.name)
    ]
    assert same == []


def test_every_parameter_is_explained_in_both_languages_and_has_bounds() -> None:
    for parameter in CONFIDENCE:
        assert parameter.help_en
        assert re.search("[\u4e00-\u9fff]", parameter.help_zh)
        if isinstance(parameter.default, (int, float)):
            assert parameter.minimum is not None
            assert parameter.maximum is not None
            assert parameter.minimum <= parameter.default <= parameter.maximum
