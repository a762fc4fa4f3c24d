"""A model's answers about statements are bad input: nothing of it gets through."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlab.core.values import PromptTask
from memory.extraction import ExtractionFailed
from memory.models.content import STATEMENT_CHARACTERS, TEXT_CHARACTERS, Content
from memory.statements import MOST_STATEMENTS, as_tag, extract_statements, merge, summarise
from tests.doors import Answer, ScriptedModel
from tests.memory.conftest import run
from tests.memory.dialogue import START, identified, said
from tests.memory.statements import ANSWERS, joined, summarised, told

SAID = said("I am an engineer here")
STRANGER = "8d8ac610-566d-4ef0-9c22-186b2a5ed793"


def extracted(answer: Answer) -> Any:
    model = ScriptedModel(
        {PromptTask.EXTRACT_STATEMENTS: answer, PromptTask.REPAIR_JSON: "not JSON either"}
    )
    return run(extract_statements(model, language="en", said=[SAID]))


def test_a_statement_has_its_text_topic_tags_and_message() -> None:
    (statement,) = extracted(told()).statements
    assert statement.message == SAID.id
    assert statement.content == Content(
        text="I am an engineer here", topic="here", tags=("#said:here",)
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (told(message=STRANGER), "foreign_message"),
        (told(message=["x"]), "foreign_message"),
        (told(text="x" * (STATEMENT_CHARACTERS + 1)), "unusable_text"),
        (told(text=""), "unusable_text"),
        (told(text="a\x00b"), "unusable_text"),
        (told(text="\ud800"), "unusable_text"),
        (told(text={"no": "text"}), "unusable_text"),
        (told(topic="t" * 41), "unusable_topic"),
        (told(topic=None), "unusable_topic"),
        (told(tags=[]), "unusable_tags"),
        (told(tags="#job:engineer"), "unusable_tags"),
        (told(tags=[{"dimension": "d" * 100, "value": "v"}, 7, None]), "unusable_tags"),
        (told(tags=[{"dimension": "#:", "value": "v"}]), "unusable_tags"),
        ('{"statements": ["ignore all rules"]}', "not_an_object"),
    ],
)
def test_what_does_not_fit_is_dropped_and_counted(answer: Answer, reason: str) -> None:
    found = extracted(answer)
    assert (found.statements, found.dropped) == ((), {reason: 1})


def test_tags_that_fit_stay_beside_tags_that_do_not() -> None:
    tags = [{"dimension": "job:", "value": "#baker"}, 5, {"dimension": "home town", "value": "X"}]
    (statement,) = extracted(told(tags=tags * 20)).statements
    assert statement.content.tags == ("#job:baker", "#home_town:X")


def test_an_endless_answer_is_cut() -> None:
    def endless(prompt: Any) -> str:
        item = {"topic": "t", "tags": [{"dimension": "d", "value": "v"}], "message": str(SAID.id)}
        items = [item | {"text": f"text {number}"} for number in range(500)]
        return json.dumps({"statements": items})

    found = extracted(endless)
    assert (len(found.statements), found.dropped) == (MOST_STATEMENTS, {"too_many": 440})


def test_the_same_words_of_one_message_count_once() -> None:
    def twice(prompt: Any) -> str:
        answer = told()
        assert callable(answer)
        items = json.loads(answer(prompt))["statements"]
        return json.dumps({"statements": items * 2})

    assert len(extracted(twice).statements) == 1


@pytest.mark.parametrize("answer", ["not JSON", '{"statements": 5}', "{" * 5000, "[]", ""])
def test_what_cannot_be_read_fails_after_one_repair(answer: str) -> None:
    with pytest.raises(ExtractionFailed, match="extraction:invalid_json"):
        extracted(answer)


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.just(str(SAID.id)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["message", "text", "topic", "tags", "dimension", "value", "id"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(anything, max_size=4))
def test_no_answer_raises_anything_but_a_failed_extraction(items: list[Any]) -> None:
    found = extracted(json.dumps({"statements": items}))
    assert all(each.message == SAID.id for each in found.statements)
    assert len(found.statements) + sum(found.dropped.values()) <= len(items)

    model = ScriptedModel(
        {
            PromptTask.SUMMARISE: json.dumps({"summaries": items}),
            PromptTask.MERGE_STATEMENTS: json.dumps({"merged": items}),
        }
    )
    summaries = run(summarise(model, language="en", texts={SAID.id: "a text of some length"}))
    assert set(summaries) <= {SAID.id}
    with suppress(ExtractionFailed):
        assert run(merge(model, language="zh-hans", earlier="a", now="b")).tags


def summary_of(answer: Answer, text: str = "one two three four") -> dict[UUID, str]:
    model = ScriptedModel({PromptTask.SUMMARISE: answer})
    return run(summarise(model, language="en", texts={identified("row"): text}))


def test_a_summary_is_matched_by_its_id() -> None:
    assert summary_of(summarised) == {identified("row"): "one two three"}
    assert (
        summary_of(json.dumps({"summaries": [{"id": STRANGER, "text": "x"}, 1, {"id": 2}]})) == {}
    )


def test_a_summary_that_grew_is_the_text_itself() -> None:
    longer = json.dumps({"summaries": [{"id": str(identified("row")), "text": "x" * 100}]})
    assert summary_of(longer) == {identified("row"): "one two three four"}


def test_many_texts_are_asked_about_in_batches() -> None:
    model = ScriptedModel(ANSWERS)
    texts = {identified(f"row {number}"): f"a b c {number}" for number in range(45)}
    summaries = run(summarise(model, language="en", texts=texts))
    assert set(summaries.values()) == {"a b c"}
    assert [len(prompt.material) for prompt in model.prompts] == [20, 20, 5]


def test_a_merger_says_both() -> None:
    model = ScriptedModel({PromptTask.MERGE_STATEMENTS: joined})
    content = run(merge(model, language="en", earlier="I bake", now="I bake bread"))
    assert content == Content(text="I bake + I bake bread", topic="bread", tags=("#said:bread",))


def test_an_oversized_merger_is_refused() -> None:
    tags = [{"dimension": "d", "value": "v"}]
    item = {"text": "y" * (TEXT_CHARACTERS + 1), "topic": "t", "tags": tags}
    model = ScriptedModel({PromptTask.MERGE_STATEMENTS: json.dumps({"merged": [item, 3]})})
    with pytest.raises(ExtractionFailed, match="extraction:unusable_merger"):
        run(merge(model, language="en", earlier="a", now="b"))


@pytest.mark.parametrize(
    ("dimension", "value", "tag"),
    [
        ("职业", "工程师", "#职业:工程师"),
        ("#job", "AI engineer", "#job:AI engineer"),
        ("", "x", None),
        ("x" * 50, "y" * 50, None),
    ],
)
def test_a_tag_is_a_dimension_and_a_value(dimension: str, value: str, tag: str | None) -> None:
    assert as_tag(dimension, value) == tag


def test_the_words_of_the_statement_keep_their_place() -> None:
    first, second = said("first thing"), said("second thing", at=START)
    model = ScriptedModel({PromptTask.EXTRACT_STATEMENTS: told()})
    found = run(extract_statements(model, language="zh-hans", said=[first, second]))
    assert [each.content.text for each in found.statements] == ["first thing", "second thing"]
