"""A model's answer is never trusted: what doesn't fit is dropped, counted, and breaks nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.base import FailureKind, LanguageModel, ModelFailure
from memlab.core.values import PromptTask, Utterance
from memory.enums import ProfilePart
from memory.extraction import (
    BATCH_CHARACTERS,
    BATCH_STATEMENTS,
    MOST_TRAITS,
    ExtractedProfile,
    ExtractionFailed,
    Rating,
    extract_profile,
    rate_salience,
)
from tests.doors import Answer, ScriptedModel, rated, traits_from
from tests.memory.conftest import run
from tests.memory.dialogue import said

TEA, CAT = said("I like tea."), said("My cat is called Miso.")


def answering(answer: Answer, task: PromptTask = PromptTask.EXTRACT_PROFILE) -> ScriptedModel:
    return ScriptedModel({task: answer})


def extracted(model: LanguageModel, *statements: Utterance, **changes: Any) -> ExtractedProfile:
    arguments: dict[str, Any] = {
        "language": "en",
        "said": statements or (TEA, CAT),
        "known": [],
        "dimensions": list(ProfilePart),
    }
    return run(extract_profile(model, **(arguments | changes)))


def trait(**changes: Any) -> dict[str, Any]:
    return {
        "dimension": "preferences",
        "key": None,
        "text": "likes tea",
        "emotion": None,
        "message": str(TEA.id),
    } | changes


def test_traits_are_extracted_with_their_source() -> None:
    model = answering(
        traits_from(
            {
                "tea": {"dimension": "preferences", "text": "likes tea"},
                "Miso": {"dimension": "basic_info", "key": "pet", "text": "a cat called Miso"},
            }
        )
    )
    profile = extracted(model)
    assert [(t.dimension, t.key, t.text, t.message) for t in profile.traits] == [
        (ProfilePart.PREFERENCES, "", "likes tea", TEA.id),
        (ProfilePart.BASIC_INFO, "pet", "a cat called Miso", CAT.id),
    ]
    assert profile.dropped == {}


POISONED: list[tuple[Any, str]] = [
    ("a string", "not_an_object"),
    (None, "not_an_object"),
    (trait(dimension="passwords"), "unknown_dimension"),
    (trait(dimension=["preferences"]), "unknown_dimension"),
    (trait(dimension=None), "unknown_dimension"),
    (trait(message="00000000-0000-0000-0000-000000000000"), "foreign_message"),
    (trait(message=7), "foreign_message"),
    (trait(message={"id": 1}), "foreign_message"),
    (trait(text=""), "unusable_text"),
    (trait(text=["likes tea"]), "unusable_text"),
    (trait(text="x" * 201), "unusable_text"),
    (trait(text="nul\x00"), "unusable_text"),
    (trait(text="\ud800"), "unusable_text"),
    (trait(dimension="basic_info"), "unusable_key"),
    (trait(dimension="basic_info", key="k" * 61), "unusable_key"),
    (trait(dimension="significant_events", emotion=3), "unusable_emotion"),
]


@pytest.mark.parametrize(("item", "reason"), POISONED)
def test_poisoned_items_are_dropped_and_counted(item: Any, reason: str) -> None:
    profile = extracted(answering(json.dumps({"traits": [item, trait()]})))
    assert [t.text for t in profile.traits] == ["likes tea"]
    assert profile.dropped == {reason: 1}


def test_a_dimension_that_is_switched_off_is_dropped() -> None:
    answer = json.dumps({"traits": [trait(dimension="core_values", text="honesty")]})
    profile = extracted(answering(answer), dimensions=[ProfilePart.PREFERENCES])
    assert profile.traits == ()
    assert profile.dropped == {"unknown_dimension": 1}


def test_a_flood_of_traits_is_cut() -> None:
    answer = json.dumps({"traits": [trait(text=f"likes tea {n}") for n in range(MOST_TRAITS + 3)]})
    profile = extracted(answering(answer))
    assert len(profile.traits) == MOST_TRAITS
    assert profile.dropped == {"too_many": 3}


def test_broken_json_is_repaired_once() -> None:
    model = ScriptedModel(
        {
            PromptTask.EXTRACT_PROFILE: '{"traits": [',
            PromptTask.REPAIR_JSON: json.dumps({"traits": [trait()]}),
        }
    )
    assert [t.text for t in extracted(model).traits] == ["likes tea"]
    (repair,) = model.asked(PromptTask.REPAIR_JSON)
    assert repair.messages[0].content == '{"traits": ['


def test_json_that_stays_broken_fails() -> None:
    model = ScriptedModel(
        {PromptTask.EXTRACT_PROFILE: "sorry", PromptTask.REPAIR_JSON: "sorry again"}
    )
    with pytest.raises(ExtractionFailed) as failed:
        extracted(model)
    assert failed.value.code == "extraction:invalid_json"
    assert len(model.asked(PromptTask.REPAIR_JSON)) == 1


@pytest.mark.parametrize("kind", list(FailureKind))
def test_a_failing_model_fails_with_its_kind(kind: FailureKind) -> None:
    with pytest.raises(ExtractionFailed) as failed:
        extracted(answering(ModelFailure(kind, "scripted")))
    assert failed.value.code == f"extraction:{kind}"


def test_batches_are_bounded_and_know_what_the_one_before_found() -> None:
    statements = [said(f"I like number {n}.") for n in range(BATCH_STATEMENTS + 1)]
    statements += [said("y" * (BATCH_CHARACTERS + 1)), said("z")]
    model = answering(
        traits_from({"number 0.": {"dimension": "preferences", "text": "likes zero"}})
    )
    extracted(model, *statements, known=["goals: a doctorate"])
    prompts = model.asked(PromptTask.EXTRACT_PROFILE)
    assert [len(prompt.material) for prompt in prompts] == [BATCH_STATEMENTS, 1, 1, 1]
    assert [prompt.known for prompt in prompts] == [
        ("goals: a doctorate",),
        *[("goals: a doctorate", "preferences: likes zero")] * 3,
    ]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_prompts_hold_material_and_what_is_known(language: str) -> None:
    model = answering(traits_from({}))
    extracted(model, known=["preferences: likes coffee"], language=language)
    (prompt,) = model.asked(PromptTask.EXTRACT_PROFILE)
    assert prompt.language == language
    assert "- preferences: likes coffee" in prompt.system
    assert all(f"- {part.value}: " in prompt.system for part in ProfilePart)
    assert [json.loads(line) for line in prompt.messages[0].content.splitlines()] == [
        {"id": str(TEA.id), "text": "I like tea."},
        {"id": str(CAT.id), "text": "My cat is called Miso."},
    ]


def test_nothing_said_asks_no_model() -> None:
    model = ScriptedModel()
    assert run(
        extract_profile(model, language="en", said=[], known=[], dimensions=list(ProfilePart))
    ) == ExtractedProfile(traits=())
    assert run(rate_salience(model, language="en", said=[])).ratings == {}


def test_every_message_is_rated() -> None:
    model = answering(rated(0.2, 0.4, 0.6), PromptTask.RATE_SALIENCE)
    salience = run(rate_salience(model, language="zh-hans", said=[TEA, CAT]))
    rating = Rating(intensity=0.2, self_disclosure=0.4, value_relevance=0.6)
    assert salience.ratings == {TEA.id: rating, CAT.id: rating}


def rating_of(utterance: Utterance, intensity: object) -> dict[str, Any]:
    return {
        "message": str(utterance.id),
        "intensity": intensity,
        "self_disclosure": 0,
        "value_relevance": 1,
    }


@pytest.mark.parametrize(
    ("given", "clipped"),
    [(-0.5, 0.0), (1.7, 1.0), (1, 1.0), (0.25, 0.25), pytest.param(10**400, 1.0, id="huge")],
)
def test_ratings_are_clipped(given: float, clipped: float) -> None:
    answer = json.dumps({"ratings": [rating_of(TEA, given)]})
    salience = run(
        rate_salience(answering(answer, PromptTask.RATE_SALIENCE), language="en", said=[TEA])
    )
    assert salience.ratings[TEA.id].intensity == clipped


@pytest.mark.parametrize("given", ["0.5", None, True, [0.5], float("nan"), float("inf")])
def test_what_is_no_number_is_asked_again_and_never_made_up(given: object) -> None:
    broken = json.dumps({"ratings": [rating_of(TEA, given), rating_of(CAT, 0.5)]})
    mended = json.dumps({"ratings": [rating_of(TEA, 0.5)]})
    model = answering([broken, mended], PromptTask.RATE_SALIENCE)
    salience = run(rate_salience(model, language="en", said=[TEA, CAT]))
    assert salience.ratings[TEA.id].intensity == 0.5
    assert salience.dropped == {"unusable_rating": 1}
    assert [len(prompt.material) for prompt in model.prompts] == [2, 1]

    with pytest.raises(ExtractionFailed) as failed:
        run(
            rate_salience(
                answering(broken, PromptTask.RATE_SALIENCE), language="en", said=[TEA, CAT]
            )
        )
    assert failed.value.code == "extraction:ratings_missing"


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ["I am a nurse and I love hiking.", "I'm afraid of failing my exam.", "ok"]),
        ("zh-hans", ["我是一名护士，我喜欢爬山。", "我很害怕考试失败。", "好的"]),
    ],
)
def test_the_offline_models_answers_pass_every_check(language: str, texts: list[str]) -> None:
    model = open_model("offline", "offline-1")
    statements = [said(text) for text in texts]
    profile = extracted(model, *statements, language=language)
    assert profile.traits
    assert profile.dropped == {}
    salience = run(rate_salience(model, language=language, said=statements))
    assert set(salience.ratings) == {statement.id for statement in statements}
    assert salience.dropped == {}
    frightened, indifferent = (salience.ratings[each.id] for each in statements[1:])
    assert frightened.intensity > indifferent.intensity
