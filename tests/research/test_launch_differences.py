"""What an amendment changes, field by field."""

from __future__ import annotations

from dataclasses import replace

from experiments.configuration import StudyConfiguration
from experiments.enums import Moment
from experiments.models import Arm, Lab, Stage
from experiments.rules import PlacementConfiguration
from memlab.core.tenancy import lab_scope
from memlab.research.launch.differences import (
    Difference,
    Mark,
    Piece,
    compared_words,
    differences,
)
from questionnaires.content import InstrumentContent, ItemContent, Text
from questionnaires.enums import ItemType
from tests.research.launchable import ready_study


def nothing(key: str, number: int) -> None:
    return None


def told(before: StudyConfiguration, after: StudyConfiguration) -> list[tuple[str, ...]]:
    return [
        (each.section, each.name, str(each.before), str(each.after))
        for each in differences(before, after, nothing)
    ]


def test_fields_arms_and_stages_are_told_in_words(lab: Lab) -> None:
    study = ready_study(lab)
    with lab_scope(lab.pk):
        before = study.configuration()
        study.minimum_age, study.pacing, study.talking_model = 21, True, "qwen-max-2025-01-25"
        study.debriefing_hold = "cohort"
        Arm.objects.get(key="working").delete()
        Arm.objects.create(study=study, key="l1", name="Sensory", label="C", architecture="sensory")
        hybrid = Arm.objects.get(key="hybrid")
        hybrid.parameters["recall_threshold"] = 0.25
        hybrid.save()
        Stage.objects.filter(key="T2").update(minimum_gap_hours=48)
        after = study.configuration()
    assert told(before, after) == [
        ("Study", "Talking model", "qwen-plus-2025-07-28", "qwen-max-2025-01-25"),
        ("Study", "Pacing", "off", "on"),
        ("Study", "Minimum age", "0", "21"),
        (
            "Study",
            "Debriefing is held",
            "Nothing",
            "The end of the cohort: the study is closed and nobody is on their way",
        ),
        ("Arm B · hybrid", "recall_threshold", "0.2", "0.25"),
        ("Arm A · working", "(as a whole)", "there", "None"),
        ("Arm C · Sensory", "(as a whole)", "None", "there"),
        ("Stage T2 · Talk 2", "Minimum gap, hours", "24", "48"),
    ]
    assert told(before, before) == []


def test_a_fallback_is_told_when_it_comes_and_when_it_changes(lab: Lab) -> None:
    study = ready_study(lab)
    with lab_scope(lab.pk):
        without = study.configuration()
        study.fallback_provider, study.fallback_model = "openai_compatible", "gpt-4o-2024-08-06"
        first = study.configuration()
        study.fallback_model = "gpt-4o-2024-11-20"
        second = study.configuration()
    assert told(without, first) == [
        ("Study", "Fallback provider", "None", "OpenAI-compatible"),
        ("Study", "Fallback model", "None", "gpt-4o-2024-08-06"),
    ]
    assert told(first, second) == [
        ("Study", "Fallback model", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20")
    ]
    assert [(name, after) for _study, name, _before, after in told(second, without)] == [
        ("Fallback provider", "None"),
        ("Fallback model", "None"),
    ]


def test_long_texts_are_compared_word_by_word() -> None:
    assert compared_words("You are a warm friend.", "You are a brief friend.") == (
        Piece(Mark.SAME, "You are a "),
        Piece(Mark.REMOVED, "warm"),
        Piece(Mark.ADDED, "brief"),
        Piece(Mark.SAME, " friend."),
    )
    assert compared_words("你很热情。", "你很冷静。") == (
        Piece(Mark.SAME, "你很"),
        Piece(Mark.REMOVED, "热情"),
        Piece(Mark.ADDED, "冷静"),
        Piece(Mark.SAME, "。"),
    )
    short = Difference(section="s", name="n", before="one", after="two")
    assert short.pieces == ()


def instrument(*items: tuple[str, str], citation: str = "") -> InstrumentContent:
    return InstrumentContent(
        key="trust",
        title=Text(en="Trust"),
        citation=citation,
        items=tuple(
            ItemContent(code=code, type=ItemType.TEXT, text=Text(en=text)) for code, text in items
        ),
    )


def test_questionnaires_are_compared_item_by_item(lab: Lab) -> None:
    study = ready_study(lab)
    with lab_scope(lab.pk):
        plain = study.configuration()
    versions = {
        ("trust", 1): instrument(("t1", "I trust it."), ("t2", "It is kind.")),
        ("trust", 2): instrument(("t1", "I rely on it."), ("t3", "It is fair."), citation="X"),
    }
    place = PlacementConfiguration(
        moment=Moment.AFTER, stage="T1", position=1, instrument="trust", version=1, sha256="a"
    )
    before = replace(plain, placements=(place,))
    after = replace(plain, placements=(replace(place, version=2, sha256="b"),))
    found = differences(before, after, lambda key, number: versions.get((key, number)))
    assert [(each.section, each.name, each.before, each.after) for each in found] == [
        ("Questionnaire After a stage's conversation · T1 · 1", "Version", "1", "2"),
        ("Questionnaire After a stage's conversation · T1 · 1", "SHA-256", "a", "b"),
        ("Instrument trust", "citation", "(empty)", "X"),
        ("Instrument trust", "t1 · text · en", "I trust it.", "I rely on it."),
        ("Instrument trust", "t2", "It is kind.", None),
        ("Instrument trust", "t3", None, "It is fair."),
    ]
