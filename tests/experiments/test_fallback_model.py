"""A study's fallback: what staff may choose, what is frozen of it, which doors it opens."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from experiments.configuration import DoorChoice, StudyConfiguration
from experiments.destinations import destinations
from experiments.doors import Credentials, open_doors
from experiments.enums import DoorUse
from experiments.models import Lab, ProviderKey, Study, StudyVersion
from experiments.study_templates import duplicate
from memlab.core.tenancy import lab_scope
from tests.studies import make_study

CHOSEN = {"fallback_provider": "openai_compatible", "fallback_model": "gpt-4o-2024-08-06"}


def key_of(lab: Lab) -> ProviderKey:
    with lab_scope(lab.pk):
        key = ProviderKey(label="spare", provider="openai_compatible", region="Ada's server, Oslo")
        key.seal("sk-0123456789")
        key.save()
        return key


def test_a_study_has_none_unless_it_is_chosen(lab: Lab) -> None:
    study = make_study(lab)
    with lab_scope(lab.pk):
        study.clean()
        configuration = study.configuration()
    assert configuration.fallback is None
    assert list(configuration.doors) == [DoorUse.TALKING, DoorUse.EXTRACTION, DoorUse.EMBEDDING]
    assert open_doors(configuration, {}).fallback is None


@pytest.mark.parametrize(
    ("fields", "at_fault"),
    [
        ({"fallback_provider": "dashscope"}, "fallback_model"),
        ({"fallback_model": "qwen-plus-2025-07-28"}, "fallback_provider"),
        ({"fallback_provider": "offline", "fallback_model": "offline-1"}, "fallback_model"),
    ],
    ids=["no model", "no provider", "the talking model itself"],
)
def test_half_a_fallback_and_no_other_model_are_refused(
    lab: Lab, fields: dict[str, Any], at_fault: str
) -> None:
    study = make_study(lab, **fields)
    with lab_scope(lab.pk), pytest.raises(ValidationError) as refused:
        study.clean()
    assert list(refused.value.message_dict) == [at_fault]


def test_a_key_without_a_provider_is_refused(lab: Lab) -> None:
    study = make_study(lab, fallback_key=key_of(lab))
    with lab_scope(lab.pk), pytest.raises(ValidationError) as refused:
        study.clean()
    assert list(refused.value.message_dict) == ["fallback_provider"]


def test_the_same_model_under_another_key_may_be_one(lab: Lab) -> None:
    talking = {"talking_provider": "openai_compatible", "talking_model": "gpt-4o-2024-08-06"}
    study = make_study(lab, **talking, **CHOSEN, fallback_key=key_of(lab))
    with lab_scope(lab.pk):
        study.clean()


def test_it_is_frozen_and_read_again(lab: Lab) -> None:
    key = key_of(lab)
    study = make_study(lab, **CHOSEN, fallback_key=key)
    with lab_scope(lab.pk):
        study.snapshot()
        frozen = StudyVersion.objects.get().configuration_json
    assert frozen["fallback"] == {
        "provider": "openai_compatible",
        "model": "gpt-4o-2024-08-06",
        "key": key.pk,
        "calls_tools": False,
    }
    read = StudyConfiguration.from_json(frozen)
    assert read.fallback == DoorChoice(
        provider="openai_compatible", model="gpt-4o-2024-08-06", key=key.pk, calls_tools=False
    )
    assert list(read.doors)[:2] == [DoorUse.TALKING, DoorUse.FALLBACK]
    assert read.as_json() == frozen


def test_a_version_from_before_there_were_any_reads_as_off_and_keeps_its_hash(lab: Lab) -> None:
    study = make_study(lab)
    with lab_scope(lab.pk):
        version = study.snapshot()
        version.refresh_from_db()
        assert "fallback" not in version.configuration_json
        read = StudyConfiguration.from_json(version.configuration_json)
        assert read.fallback is None
        assert read.sha256() == version.sha256
        # One that was frozen with an empty place for it reads the same.
        assert (
            StudyConfiguration.from_json({**version.configuration_json, "fallback": None}) == read
        )


def test_a_copy_of_the_study_has_it_too(lab: Lab) -> None:
    study = make_study(lab, **CHOSEN)
    with lab_scope(lab.pk):
        copy = duplicate(Study.objects.get(pk=study.pk), title="Again")
        assert copy.configuration().fallback == study.configuration().fallback is not None


@pytest.mark.parametrize("calls_tools", [True, False])
def test_it_calls_tools_if_the_talking_model_does(lab: Lab, calls_tools: bool) -> None:
    key = key_of(lab)
    study = make_study(lab, **CHOSEN, fallback_key=key, talking_calls_tools=calls_tools)
    with lab_scope(lab.pk):
        doors = open_doors(study.configuration(), {key.pk: Credentials("sk-0123456789")})
    assert doors.fallback is not None
    assert (doors.fallback.model, doors.fallback.calls_tools) == ("gpt-4o-2024-08-06", calls_tools)


def test_participants_are_told_where_it_is(lab: Lab) -> None:
    study = make_study(lab, **CHOSEN, fallback_key=key_of(lab))
    with lab_scope(lab.pk):
        told = destinations(study.configuration())
    assert [(each.operator, each.what) for each in told][1:] == [
        ("Ada's server, Oslo", ("Your messages, to answer them if the first service fails",))
    ]
