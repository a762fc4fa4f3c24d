"""Arms side by side: a difference that nobody declared is found, one that was is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.configuration import StudyConfiguration
from experiments.enums import WithinSession
from experiments.models import Lab, Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research.launch.checklist import checklist
from memlab.research.launch.finding import State
from memlab.research.launch.identity import Part, Row, Standing, identity, sample_prompts
from memlab.research.launch.opening import LaunchRefused, launch
from tests.research.launchable import ready_study

ALIKE = {"l3": ("gist", {"gist_max_chars": 400}), "l4": ("hybrid", {"gist_max_chars": 400})}
CONFOUNDED = {"l3": ("gist", {"gist_max_chars": 400}), "l4": ("hybrid", {"gist_max_chars": 900})}
LASTING = {"recall_threshold": 0.2}


def configured(lab: Lab, **fields: Any) -> StudyConfiguration:
    study = ready_study(lab, **fields)
    with lab_scope(lab.pk):
        return study.configuration()


def compared(configuration: StudyConfiguration) -> Any:
    return identity(configuration, sample_prompts(configuration))


def row(configuration: StudyConfiguration, name: str) -> Row:
    (found,) = (each for each in compared(configuration).rows if each.name == name)
    return found


def test_only_the_architecture_and_what_it_alone_has_may_differ(lab: Lab) -> None:
    configuration = configured(lab, arms=ALIKE)
    result = compared(configuration)
    assert [(each.name, each.standing) for each in result.rows if each.differs] == [
        ("architecture", Standing.DECLARED)
    ]
    assert row(configuration, "gist_max_chars").values == (400, 400)
    assert row(configuration, "recall_threshold").values == (None, 0.86)
    assert result.twins() == ()


def test_a_shared_parameter_that_differs_unsaid_blocks_the_launch(lab: Lab) -> None:
    arms = {**CONFOUNDED, "l4": ("hybrid", {**LASTING, "gist_max_chars": 900})}
    study = ready_study(lab, arms=arms)
    with lab_scope(lab.pk):
        fresh = Study.objects.get(pk=study.pk)
        result = compared(fresh.configuration())
        assert result.undeclared == (
            Row(
                part=Part.PARAMETER,
                name="gist_max_chars",
                values=(400, 900),
                standing=Standing.UNDECLARED,
            ),
        )
        finding = next(
            each for each in checklist(fresh, wall=wall_now()).findings if each.key == "arms_differ"
        )
        assert (finding.state, finding.found) == (State.BLOCKING, "Undeclared: gist_max_chars.")
        with pytest.raises(LaunchRefused, match="gist_max_chars"):
            launch(fresh, wall=wall_now(), user_id=None)
        fresh.varied = ["gist_max_chars"]
        fresh.save()
        assert compared(fresh.configuration()).undeclared == ()
        version = launch(fresh, wall=wall_now(), user_id=None)
        assert version.configuration.varied == ("gist_max_chars",)


def test_the_same_architecture_with_other_numbers_has_to_be_declared(lab: Lab) -> None:
    arms = {"slow": ("hybrid", {"initial_g": 20.0}), "fast": ("hybrid", {"initial_g": 3.0})}
    result = compared(configured(lab, arms=arms))
    assert [each.name for each in result.undeclared] == ["initial_g"]
    assert result.undeclared[0].values == (3.0, 20.0)  # arms in the order of their keys


def test_twins_are_told(lab: Lab) -> None:
    result = compared(configured(lab, arms={"a": "hybrid", "b": "hybrid", "c": "working"}))
    assert result.twins() == (("A", "B"),)


def test_an_exception_to_the_session_is_declared_and_shows_in_the_prompt(lab: Lab) -> None:
    configuration = configured(lab, arms={"a": "sensory", "b": "working"})
    configuration = replace(
        configuration,
        arms=(
            replace(configuration.arms[0], within_session=configuration.factors.within_session),
            configuration.arms[1],
        ),
    )
    assert row(configuration, "within_session").standing is Standing.SAME
    nothing = replace(configuration.arms[0], within_session=WithinSession.NONE)
    configuration = replace(configuration, arms=(nothing, configuration.arms[1]))
    assert row(configuration, "within_session").values == ("none", "full")
    assert row(configuration, "session").standing is Standing.DECLARED


def test_words_of_a_prompt_that_differ_unsaid_are_found(lab: Lab) -> None:
    configuration = configured(lab, arms={"a": "sensory", "b": "working"})
    prompts = sample_prompts(configuration)
    assert prompts["a"] == prompts["b"]
    assert prompts["a"].system.startswith("Today is Monday, 2 March 2026.\n\nYour name is Lin.")
    other = {**prompts, "b": replace(prompts["b"], system=prompts["b"].system + " Be cold.")}
    assert [each.name for each in identity(configuration, other).undeclared] == ["instructions"]


def test_every_memorys_own_instruction_is_a_declared_factor(lab: Lab) -> None:
    configuration = configured(lab, arms={"a": "sensory", "b": "working"}, instruction="seed")
    assert row(configuration, "instructions").standing is Standing.DECLARED


def test_the_weight_of_the_draw_is_no_part_of_the_treatment(lab: Lab) -> None:
    configuration = configured(lab, arms={"a": "sensory", "b": "working"})
    heavier = replace(configuration.arms[0], weight=2)
    configuration = replace(configuration, arms=(heavier, configuration.arms[1]))
    assert row(configuration, "weight") == Row(
        part=Part.WEIGHT, name="weight", values=(2, 1), standing=Standing.DECLARED
    )
