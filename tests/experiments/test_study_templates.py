"""Templates make complete studies that open as they are."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from experiments import architectures
from experiments.enums import Instruction, Language, WithinSession
from experiments.models import Lab, Study
from experiments.study_templates import TEMPLATES, create_study, duplicate
from memlab.core.tenancy import lab_scope

WITH_ARMS = ["controlled", "controlled-with-controls", "controlled-all", "as-in-the-seed"]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("key", WITH_ARMS)
def test_a_template_opens_as_it_is(lab: Lab, key: str, language: Language) -> None:
    with lab_scope(lab.pk):
        version = create_study(key, title="A study", language=language).open()
        configuration = version.configuration
    assert [stage.minimum_gap_hours for stage in configuration.stages] == [0, 24, 168, 168]
    assert [stage.manipulation for stage in configuration.stages] == [False, True, True, True]
    assert all(stage.maximum_minutes == 15 for stage in configuration.stages)
    assert all(stage.opening_line and stage.instructions for stage in configuration.stages)
    arms = {arm.architecture: arm for arm in configuration.arms}
    assert set(arms) >= {"sensory", "working", "gist", "hybrid"}
    assert arms["hybrid"].parameters["initial_g"] == 20.0
    assert arms["hybrid"].parameters["recall_threshold"] == 0.45
    assert len({arm.label for arm in configuration.arms}) == len(configuration.arms)


def test_controlled_arms_differ_in_memory_alone(lab: Lab) -> None:
    with lab_scope(lab.pk):
        configuration = create_study(
            "controlled", title="A study", language=Language.ENGLISH
        ).configuration()
    assert configuration.factors.instruction is Instruction.NEUTRAL
    assert configuration.factors.provenance_in_prompt is False
    for arm in configuration.arms:
        assert configuration.factors_of(arm).within_session is WithinSession.FULL


def test_the_original_design_keeps_its_lowest_level_without_the_session(lab: Lab) -> None:
    with lab_scope(lab.pk):
        configuration = create_study(
            "as-in-the-seed", title="A study", language=Language.CHINESE
        ).configuration()
    assert configuration.factors.instruction is Instruction.SEED
    assert configuration.factors.provenance_in_prompt is True
    assert {
        arm.key: configuration.factors_of(arm).within_session for arm in configuration.arms
    } == {
        "l1": WithinSession.NONE,
        "l2": WithinSession.FULL,
        "l3": WithinSession.FULL,
        "l4": WithinSession.FULL,
    }


def test_empty_has_texts_and_nothing_else(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("empty", title="A study", language=Language.ENGLISH)
        assert (study.stages.count(), study.arms.count()) == (0, 0)
        assert study.persona
        assert study.consent


def test_a_copy_opens_under_its_own_seed_with_the_same_content(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("controlled", title="A study", language=Language.ENGLISH)
        copy = duplicate(study, title="A study")
        assert copy.configuration().sha256() == study.configuration().sha256()
        assert copy.pk != study.pk
        assert copy.public_id != study.public_id
        assert copy.allocation_seed != study.allocation_seed


def test_nothing_stays_of_a_study_that_is_refused(lab: Lab) -> None:
    def spoil(study: Study) -> None:
        study.sampling = {"warmth": 1}

    with pytest.raises(ValidationError), lab_scope(lab.pk):
        create_study("controlled", title="A study", language=Language.ENGLISH, adjust=spoil)
    with lab_scope(lab.pk):
        assert not Study.objects.exists()


def test_every_template_has_a_title_and_a_description() -> None:
    assert all(template.title and template.description for template in TEMPLATES.values())


def test_arms_are_named_in_the_studys_language(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("controlled", title="A study", language=Language.CHINESE)
        assert study.arms.get(key="l4").name == "L4 · 混合记忆"


def test_a_template_offers_every_architecture_as_an_arm(lab: Lab) -> None:
    with lab_scope(lab.pk):
        study = create_study("controlled-all", title="A study", language=Language.ENGLISH)
        assert set(study.arms.values_list("architecture", flat=True)) == set(architectures.keys())
