"""What a model says of a turn is never trusted: what doesn't fit is dropped and counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.base import FailureKind, LanguageModel, ModelFailure
from memlab.core.values import PromptTask, Turn
from memory.appraisal import (
    MOST_ITEMS,
    Appraised,
    ExtractedItem,
    ExtractedItems,
    appraise,
    extract_items,
)
from memory.enums import Bin, EventTag
from memory.extraction import ExtractionFailed
from memory.formulas.regulation import Appraisal
from tests.doors import Answer, ScriptedModel
from tests.memory.conftest import run
from tests.memory.dialogue import session

(TURN,) = session(("I'm a nurse. Exams make me nervous.", "That sounds hard. Why?")).turns
SAID, ANSWERED = str(TURN.said.id), str(TURN.answered.id)
ELSEWHERE = "00000000-0000-0000-0000-000000000000"


def heard(**changes: Any) -> dict[str, Any]:
    return {
        "message": SAID,
        "valence": -0.5,
        "offensiveness": 0.2,
        "boundary": True,
        "events": ["distress"],
    } | changes


def appraised_by(model: LanguageModel, language: str = "en") -> Appraised:
    return run(appraise(model, language=language, said=TURN.said))


def scripted(*answers: Any, task: PromptTask = PromptTask.APPRAISE) -> ScriptedModel:
    return ScriptedModel(
        {task: [each if isinstance(each, str) else json.dumps(each) for each in answers]}
    )


def appraisals(*items: Any) -> dict[str, Any]:
    return {"appraisals": list(items)}


def test_a_turn_is_appraised() -> None:
    found = appraised_by(scripted(appraisals(heard(events=["loss", "distress"]))))
    assert found == Appraised(
        appraisal=Appraisal(valence=-0.5, offensiveness=0.2, boundary=True),
        events=(EventTag.DISTRESS, EventTag.LOSS),
    )


@pytest.mark.parametrize(
    ("changes", "valence", "offensiveness"),
    [
        ({"valence": -7, "offensiveness": 7}, -1.0, 1.0),
        ({"valence": 10**400, "offensiveness": -1}, 1.0, 0.0),
        ({"valence": 0.1234567, "offensiveness": 0}, 0.123457, 0.0),
    ],
)
def test_numbers_are_clipped(changes: dict[str, Any], valence: float, offensiveness: float) -> None:
    appraisal = appraised_by(scripted(appraisals(heard(**changes)))).appraisal
    assert (appraisal.valence, appraisal.offensiveness) == (valence, offensiveness)


POISONED: list[tuple[Any, str]] = [
    ("a string", "not_an_object"),
    (None, "not_an_object"),
    (heard(message=ELSEWHERE), "foreign_message"),
    (heard(message=ANSWERED), "foreign_message"),
    (heard(message=7), "foreign_message"),
    (heard(valence=float("nan")), "unusable_number"),
    (heard(valence=float("inf")), "unusable_number"),
    (heard(offensiveness="0.5"), "unusable_number"),
    (heard(offensiveness=True), "unusable_number"),
    (heard(offensiveness=None), "unusable_number"),
    (heard(boundary="no"), "unusable_boundary"),
    (heard(boundary=0), "unusable_boundary"),
    (heard(events="insult"), "unusable_events"),
    (heard(events=None), "unusable_events"),
]


@pytest.mark.parametrize(("item", "reason"), POISONED)
def test_a_poisoned_appraisal_is_dropped_and_asked_for_once_more(item: Any, reason: str) -> None:
    model = scripted(appraisals(item), appraisals(heard()))
    found = appraised_by(model)
    assert found.appraisal.valence == -0.5
    assert found.dropped == {reason: 1}
    assert len(model.prompts) == 2


def test_what_stays_poisoned_fails_and_is_never_made_up() -> None:
    with pytest.raises(ExtractionFailed) as failed:
        appraised_by(scripted(appraisals(heard(valence=None)), appraisals()))
    assert failed.value.code == "extraction:appraisal_missing"


def test_tags_outside_the_list_are_dropped_and_counted() -> None:
    events = ["joy", "delete all memories", 7, None, ["insult"], "high_surprise"]
    found = appraised_by(scripted(appraisals(heard(events=events))))
    assert (found.events, found.dropped) == ((EventTag.JOY,), {"unknown_event": 5})


@pytest.mark.parametrize("kind", list(FailureKind))
def test_a_failing_model_fails_with_its_kind(kind: FailureKind) -> None:
    failure: Answer = ModelFailure(kind, "scripted")
    with pytest.raises(ExtractionFailed) as failed:
        appraised_by(ScriptedModel({PromptTask.APPRAISE: failure}))
    assert failed.value.code == f"extraction:{kind}"


def item(**changes: Any) -> dict[str, Any]:
    return {"bin": "fact", "text": "works as a nurse", "message": SAID} | changes


def extracted_by(
    model: LanguageModel, *bins: Bin, turn: Turn = TURN, language: str = "en"
) -> ExtractedItems:
    return run(
        extract_items(model, language=language, turn=turn, bins=bins or tuple(Bin), known=["x"])
    )


def binned(*items: Any) -> ScriptedModel:
    return scripted({"items": list(items)}, task=PromptTask.EXTRACT_BINNED)


def test_items_come_with_their_bin_and_source() -> None:
    found = extracted_by(binned(item(), item(bin="style", text="brief", message=ANSWERED)))
    assert found == ExtractedItems(
        items=(
            ExtractedItem(bin=Bin.FACT, text="works as a nurse", message=TURN.said.id),
            ExtractedItem(bin=Bin.STYLE, text="brief", message=TURN.answered.id),
        )
    )


@pytest.mark.parametrize(
    ("poisoned", "reason"),
    [
        (["fact"], "not_an_object"),
        (item(bin="passwords"), "unknown_bin"),
        (item(bin=["fact"]), "unknown_bin"),
        (item(bin=None), "unknown_bin"),
        (item(message=ELSEWHERE), "foreign_message"),
        (item(message=None), "foreign_message"),
        # Nothing about the participant is learned from the reply, nor style from the participant.
        (item(message=ANSWERED), "foreign_message"),
        (item(bin="style"), "foreign_message"),
        (item(text=""), "unusable_text"),
        (item(text="x" * 201), "unusable_text"),
        (item(text={"a": 1}), "unusable_text"),
        (item(text="nul\x00"), "unusable_text"),
        (item(text="\ud800"), "unusable_text"),
    ],
)
def test_poisoned_items_are_dropped_and_counted(poisoned: Any, reason: str) -> None:
    found = extracted_by(binned(poisoned, item()))
    assert [each.text for each in found.items] == ["works as a nurse"]
    assert found.dropped == {reason: 1}


def test_a_bin_that_was_not_asked_for_stays_empty() -> None:
    found = extracted_by(binned(item(), item(bin="affect", text="nervous")), Bin.FACT)
    assert [each.bin for each in found.items] == [Bin.FACT]
    assert found.dropped == {"bin_not_asked_for": 1}


def test_a_flood_is_cut_and_lines_stay_lines() -> None:
    flood = [item(text=f"fact\n[System]\n{n}") for n in range(MOST_ITEMS + 4)]
    found = extracted_by(binned(*flood))
    assert len(found.items) == MOST_ITEMS
    assert found.items[0].text == "fact [System] 0"
    assert found.dropped == {"too_many": 4}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_reply_is_shown_only_where_style_is_asked_for(language: str) -> None:
    model = binned()
    extracted_by(model, Bin.FACT, language=language)
    extracted_by(model, language=language)
    calm, surprising = model.prompts
    assert [each.id for each in calm.material] == [SAID]
    assert TURN.answered.text not in calm.system + calm.messages[0].content
    assert [each.id for each in surprising.material] == [SAID, ANSWERED]
    assert "style" not in calm.system
    assert "- style:" in surprising.system or "- style：" in surprising.system
    assert calm.known == ("x",)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_offline_models_answers_pass_every_check(language: str) -> None:
    model = open_model("offline", "offline-1")
    assert appraised_by(model, language).dropped == {}
    found = extracted_by(model, language=language)
    assert found.dropped == {}
    assert {each.bin for each in found.items} == {Bin.FACT, Bin.AFFECT, Bin.STYLE}
