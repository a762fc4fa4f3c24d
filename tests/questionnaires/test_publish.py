"""Drafts, their versions, and what a study freezes of them."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, transaction

from experiments.enums import Language, Moment
from experiments.models import Lab, Study
from experiments.study_templates import duplicate
from memlab.core.tenancy import lab_scope
from questionnaires.content import InstrumentContent, Text
from questionnaires.enums import ItemType
from questionnaires.freezing import placements_of
from questionnaires.models import Instrument, InstrumentVersion, Item, Placement
from tests.questionnaires.instruments import CLOSENESS, choice, instrument, item
from tests.studies import make_study


def stored(content: InstrumentContent = CLOSENESS) -> Instrument:
    row: Instrument = Instrument.objects.store(content)
    return row


def placed(study: Study, instrument: Instrument, *, stage: str = "T1", position: int = 1) -> None:
    Placement.objects.create(
        study=study,
        moment=Moment.AFTER,
        stage=study.stages.get(key=stage),
        position=position,
        instrument=instrument,
    )


def test_a_draft_reads_as_what_was_stored(lab: Lab) -> None:
    with lab_scope(lab.pk):
        assert stored().content() == CLOSENESS
        assert Instrument.objects.get().content().sha256() == CLOSENESS.sha256()


def test_the_same_content_is_the_same_version(lab: Lab) -> None:
    with lab_scope(lab.pk):
        draft = stored()
        first = draft.publish()
        assert (first.number, first.content) == (1, CLOSENESS)
        assert draft.publish().pk == first.pk
        Item.objects.filter(code="close_1").update(text_en="We are close.")
        assert draft.current_version() is None
        second = draft.publish()
        assert (second.number, second.content.items[0].text.en) == (2, "We are close.")
        Item.objects.filter(code="close_1").update(text_en="About close_1")
        assert draft.publish().pk == first.pk
        assert draft.current_version() == first


def test_a_version_is_neither_changed_nor_deleted(lab: Lab) -> None:
    with lab_scope(lab.pk):
        version = stored().publish()
    for change in (
        lambda: InstrumentVersion.objects.filter(pk=version.pk).update(number=7),
        lambda: InstrumentVersion.objects.filter(pk=version.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="append-only"), lab_scope(lab.pk):
            change()


def test_what_cannot_be_asked_is_not_published_and_every_reason_is_said(lab: Lab) -> None:
    with lab_scope(lab.pk):
        draft = stored(
            instrument(
                item("close_1", text=Text()),
                item("pets", ItemType.MULTIPLE, options=choice(1)),
            )
        )
        with pytest.raises(ValidationError) as refused:
            draft.publish()
        assert not draft.versions.exists()
    assert refused.value.messages == [
        "closeness, item close_1, text_en: There is no text in English. Write it (of a licensed "
        "scale, paste the wording you have the licence for), or leave this language empty "
        "everywhere.",
        "closeness, item pets, options_en: There is nothing to choose from. Give two options at "
        "least, such as 1=yes | 2=no.",
    ]


def test_an_item_is_checked_when_it_is_saved(lab: Lab) -> None:
    with lab_scope(lab.pk):
        draft = stored()
        row = Item(instrument=draft, position=9, code="more", type="text", condition="pet = 1")
        with pytest.raises(ValidationError) as refused:
            row.clean()
        assert list(refused.value.message_dict) == ["condition"]
        row.condition, row.options = "", [{"value": "one"}]
        with pytest.raises(ValidationError) as refused:
            row.clean()
        assert list(refused.value.message_dict) == ["options"]


def test_a_study_freezes_the_version_that_is_current(lab: Lab) -> None:
    study = make_study(lab)
    with lab_scope(lab.pk):
        draft = stored()
        placed(study, draft)
        placed(study, draft, stage="T2")
        frozen = study.configuration().placements
        assert [(each.key, each.instrument, each.version) for each in frozen] == [
            ("after:T1:1", "closeness", 1),
            ("after:T2:1", "closeness", 1),
        ]
        assert {each.sha256 for each in frozen} == {CLOSENESS.sha256()}
        before = study.configuration().sha256()
        Item.objects.filter(code="close_1").update(text_en="We are close.")
        assert [each.version for each in study.configuration().placements] == [2, 2]
        assert study.configuration().sha256() != before


def test_freezing_says_at_which_place_what_is_wrong(lab: Lab) -> None:
    study = make_study(lab, language=Language.CHINESE)
    with lab_scope(lab.pk):
        placed(study, stored())
        other = Instrument.objects.store(instrument(key="empty"))
        placed(study, other, position=2)
        with pytest.raises(ValidationError) as refused:
            placements_of(study)
    assert refused.value.messages == [
        "Questionnaire T1 · After a stage's conversation · 1: closeness has no text in the "
        "study's language, Simplified Chinese. Translate every item of it, or ask another "
        "instrument.",
        "Questionnaire T1 · After a stage's conversation · 2: empty, code: There is no item. "
        "An instrument needs one at least.",
    ]


def test_a_place_fits_its_study(lab: Lab) -> None:
    study, another = make_study(lab), make_study(lab)
    with lab_scope(lab.pk):
        draft, stage = stored(), study.stages.get(key="T1")

        def troubles(**fields: object) -> list[str]:
            with pytest.raises(ValidationError) as refused:
                Placement(study=study, **fields).clean()
            return refused.value.messages

        assert troubles(moment=Moment.AFTER, instrument=draft) == [
            "Choose the stage whose conversation this is."
        ]
        assert troubles(moment=Moment.BASELINE, instrument=draft, stage=stage) == [
            "This moment belongs to no stage: leave the stage empty."
        ]
        assert troubles(
            moment=Moment.AFTER, instrument=draft, stage=another.stages.get(key="T1")
        ) == ["This stage belongs to another study."]
        one_of_them = [
            "Choose an instrument or give the address of an external survey: one of them."
        ]
        assert troubles(moment=Moment.AFTER, stage=stage) == one_of_them
        assert (
            troubles(
                moment=Moment.AFTER,
                stage=stage,
                instrument=draft,
                external_url="https://survey.example.org/",
            )
            == one_of_them
        )
        with pytest.raises(IntegrityError), transaction.atomic():
            Placement.objects.create(
                study=study, moment=Moment.BASELINE, stage=stage, instrument=draft
            )


def test_an_external_survey_needs_no_version(lab: Lab) -> None:
    study = make_study(lab)
    with lab_scope(lab.pk):
        Placement.objects.create(
            study=study,
            moment=Moment.BASELINE,
            external_url="https://survey.example.org/form",
            half=True,
        )
        (frozen,) = placements_of(study)
    assert (frozen.key, frozen.external_url, frozen.instrument, frozen.half) == (
        "baseline::1",
        "https://survey.example.org/form",
        "",
        True,
    )


def test_a_duplicate_asks_what_its_original_asks(lab: Lab) -> None:
    study = make_study(lab)
    with lab_scope(lab.pk):
        draft = stored()
        placed(study, draft, stage="T2")
        Placement.objects.create(study=study, moment=Moment.SCREENING, instrument=draft)
        copy = duplicate(study, title="Again")
        assert placements_of(copy) == placements_of(study)
        assert Placement.objects.filter(study=study).count() == 2
        assert Placement.objects.get(study=copy, stage__isnull=False).stage.study == copy
