"""The demo's instruments: complete in both languages, stamped, and where the protocol has them."""

from __future__ import annotations

import pytest

from experiments.enums import Language, Moment
from experiments.models import Lab
from experiments.study_templates import create_study
from memlab.core.tenancy import lab_scope
from questionnaires.checks import complete_in, problems
from questionnaires.demo import INSTRUMENTS
from questionnaires.models import Instrument, Item

#: Items that are scored, of each instrument, and the points of their scale.
SIZES = {
    "demo_screening": (0, 0),
    "demo_mind_perception": (4, 5),
    "demo_ios": (1, 7),
    "demo_closeness": (4, 7),
    "demo_trust": (7, 7),
    "demo_satisfaction": (4, 7),
    "demo_understanding": (4, 7),
    "demo_self_disclosure": (5, 7),
    "demo_manipulation_check": (5, 7),
    "demo_intelligence": (3, 5),
    "demo_social_presence": (4, 7),
    "demo_continuance": (4, 7),
    "demo_privacy_concern": (5, 7),
    "demo_open_question": (0, 0),
    "demo_debriefing": (0, 0),
}


def test_instruments_have_as_many_items_as_the_protocol_says() -> None:
    sizes = {}
    for key, content in INSTRUMENTS.items():
        scored = [item for item in content.items if item.subscale]
        sizes[key] = (len(scored), int(scored[0].maximum or 0) if scored else 0)
    assert sizes == SIZES


@pytest.mark.parametrize("key", SIZES)
def test_instrument_can_be_asked_and_says_what_it_is(key: str) -> None:
    content = INSTRUMENTS[key]
    assert [problem.told(content) for problem in problems(content)] == []
    assert complete_in(content, "en")
    assert complete_in(content, "zh-hans")
    assert not content.validated
    assert content.citation.startswith("Demo, not validated: wording of our own. Stands for: ")
    assert content.title.en.endswith("(demo, not validated)")
    assert content.title.zh.endswith("（演示，未经验证）")


@pytest.mark.django_db
def test_study_of_the_standard_protocol_asks_them_at_their_places(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("controlled", title="A", language=Language.CHINESE)
        configuration = study.configuration()
        assert [each.instrument for each in configuration.placed(Moment.SCREENING)] == [
            "demo_screening"
        ]
        assert {
            stage.key: [
                each.instrument.removeprefix("demo_")
                for each in configuration.placed(Moment.AFTER, stage.key)
            ]
            for stage in configuration.stages
        } == {
            "t1": ["mind_perception", "ios", "closeness", "trust", "satisfaction"],
            "t2": [
                "understanding",
                "ios",
                "closeness",
                "self_disclosure",
                "satisfaction",
                "manipulation_check",
            ],
            "t3": [
                "intelligence",
                "trust",
                "social_presence",
                "continuance",
                "satisfaction",
                "manipulation_check",
            ],
            "t4": [
                "ios",
                "closeness",
                "mind_perception",
                "trust",
                "satisfaction",
                "privacy_concern",
                "manipulation_check",
                "open_question",
            ],
        }


@pytest.mark.django_db
def test_instruments_of_a_lab_are_loaded_once_and_left_as_they_are(lab: Lab) -> None:
    with lab_scope(lab.pk):
        create_study("controlled", title="A", language=Language.ENGLISH)
        Item.objects.filter(code="trust_c1").update(text_en="Ours")
        create_study("controlled", title="B", language=Language.ENGLISH)
        assert Instrument.objects.count() == len(INSTRUMENTS)
        assert Item.objects.get(code="trust_c1").text_en == "Ours"


@pytest.mark.django_db
def test_empty_study_asks_nothing(lab: Lab) -> None:
    with lab_scope(lab.pk):
        create_study("empty", title="A", language=Language.ENGLISH)
        assert not Instrument.objects.exists()
