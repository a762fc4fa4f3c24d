"""Instruments in the back office: edited, imported with a preview, published, placed, reported."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from experiments.enums import Moment
from experiments.models import AuditEntry, Lab
from experiments.models.debriefing import answer_debriefing
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from questionnaires.content import InstrumentContent, Text
from questionnaires.enums import ResponseState
from questionnaires.item_sheet import as_csv, as_xlsx, read
from questionnaires.item_sheet.example import EXAMPLE
from questionnaires.keys import scoring_keys
from questionnaires.models import (
    Answer,
    Instrument,
    InstrumentVersion,
    Item,
    Placement,
    Response,
    Score,
)
from questionnaires.models.response import response_id
from questionnaires.reliability import covariance, omega
from questionnaires.scoring import scored
from tests.admin.test_back_office import unchanged
from tests.people import signed_in
from tests.questionnaires.instruments import CLOSENESS, instrument, item
from tests.studies import enrol, make_study

BASE = "/admin/questionnaires/instrument/"


def upload(client: Client, content: bytes, name: str = "items.csv") -> Any:
    return client.post(f"{BASE}import/", {"file": SimpleUploadedFile(name, content)})


def signed(page: Any) -> dict[str, str]:
    return {"confirmed": page.context["signed"]}


def rows(lab: Lab) -> tuple[int, int]:
    with lab_scope(lab.pk):
        return Instrument.objects.count(), Item.objects.count()


def test_an_import_shows_first_and_writes_then(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    page = upload(client, as_csv(EXAMPLE))
    shown = page.content.decode()
    assert "My evenings were calm." in shown
    assert "我的晚上过得很平静。" in shown
    assert rows(lab) == (0, 0)
    response = client.post(f"{BASE}import/", signed(page))
    assert response.status_code == 302
    with lab_scope(lab.pk):
        draft = Instrument.objects.get()
        assert draft.content() == EXAMPLE
        entry = AuditEntry.objects.get()
        assert (entry.action, entry.details["items"], entry.details["made"]) == (
            "import_instrument",
            11,
            True,
        )


def test_importing_again_shows_the_difference_and_changes_the_draft(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    with lab_scope(lab.pk):
        draft = Instrument.objects.store(CLOSENESS)
        version = draft.publish()
    after = replace(
        CLOSENESS,
        items=(replace(CLOSENESS.items[0], text=Text(en="New words")), *CLOSENESS.items[1:4]),
    )
    page = upload(client, as_xlsx(after), "items.xlsx")
    assert [(change.kind, change.item) for _kind, change in page.context["changes"]] == [
        ("removed", "pet_name"),
        ("changed", "close_1"),
    ]
    client.post(f"{BASE}import/", signed(page))
    with lab_scope(lab.pk):
        assert Instrument.objects.get().pk == draft.pk
        assert Instrument.objects.get().content() == after
        assert InstrumentVersion.objects.get(pk=version.pk).content == CLOSENESS


def test_a_preview_of_what_has_changed_since_is_refused(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    page = upload(client, as_csv(CLOSENESS))
    with lab_scope(lab.pk):
        Instrument.objects.store(replace(CLOSENESS, citation="Somebody else was quicker."))
    client.post(f"{BASE}import/", signed(page))
    with lab_scope(lab.pk):
        assert Instrument.objects.get().citation == "Somebody else was quicker."


def test_a_preview_is_of_use_to_nobody_else(lab: Lab, other_lab: Lab) -> None:
    page = upload(signed_in("Erin", lab), as_csv(CLOSENESS))
    assert signed_in("Charlie", other_lab).post(f"{BASE}import/", signed(page)).status_code == 404
    assert signed_in("Alice", lab).post(f"{BASE}import/", signed(page)).status_code == 404
    forged = {"confirmed": page.context["signed"][:-1] + "x"}
    assert signed_in("Erin", lab).post(f"{BASE}import/", forged).status_code == 302
    assert rows(lab) == rows(other_lab) == (0, 0)


def test_mistakes_are_listed_and_nothing_is_imported(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    text = as_csv(CLOSENESS).decode("utf-8-sig")
    wrong = text.replace("close_2,likert", "close_2,lickert").replace(",,4,\r\n", ",,9,\r\n")
    page = upload(client, wrong.encode())
    assert [(each.line, each.column) for each in page.context["problems"]] == [
        (12, "type"),
        (13, "expected"),
    ]
    assert "signed" not in page.context
    assert rows(lab) == (0, 0)
    assert upload(client, b"").context["form"].errors


@pytest.mark.parametrize("end", ["import", "scoring-keys"])
def test_whoever_may_only_look_cannot_import(lab: Lab, end: str) -> None:
    assert signed_in("Bob", lab).get(f"{BASE}{end}/").status_code == 404
    assert signed_in("Bob", lab).get(f"{BASE}example/").status_code == 200


def test_sheets_to_download_are_read_again(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    with lab_scope(lab.pk):
        draft = Instrument.objects.store(CLOSENESS)
    for end in ("csv", "xlsx"):
        response = client.get(f"{BASE}{draft.pk}/{end}/")
        assert f"closeness.{end}" in response["Content-Disposition"]
        assert read(response.content).content == CLOSENESS
    assert read(client.get(f"{BASE}example/").content).content == EXAMPLE
    assert client.get(f"{BASE}empty-sheet/").status_code == 200


def test_an_item_is_edited_with_options_as_on_a_sheet(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    with lab_scope(lab.pk):
        draft = Instrument.objects.store(CLOSENESS)
    address = f"{BASE}{draft.pk}/change/"
    posted = unchanged(client, address)
    name = next(key for key, value in posted.items() if value == "1=No. 1 | 2=No. 2 | 3=No. 3")
    response = client.post(address, posted | {name: "1=cat | 2=dog"})
    assert response.status_code == 302, response.context["errors"]
    with lab_scope(lab.pk):
        assert Item.objects.get(code="pet").options == [
            {"value": 1, "en": "cat", "zh": ""},
            {"value": 2, "en": "dog", "zh": ""},
        ]
    refused = client.post(address, posted | {name: "cat or dog"})
    assert "is no option" in refused.content.decode()


def test_saving_without_a_change_changes_nothing(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    with lab_scope(lab.pk):
        draft = Instrument.objects.store(EXAMPLE)
    address = f"{BASE}{draft.pk}/change/"
    assert client.post(address, unchanged(client, address)).status_code == 302
    with lab_scope(lab.pk):
        assert Instrument.objects.get().content() == EXAMPLE


def test_publishing_asks_first_and_says_what_is_wrong(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    with lab_scope(lab.pk):
        draft = Instrument.objects.store(CLOSENESS)
        empty = Instrument.objects.store(instrument(item("a", text=Text()), key="empty"))
    address = f"{BASE}{draft.pk}/publish/"
    assert "never changes" in client.get(address).content.decode()
    client.post(address)
    assert "reads as version 1" in client.get(address).content.decode()
    refused = client.post(f"{BASE}{empty.pk}/publish/").content.decode()
    assert "item a, text_en: There is no text in English." in refused
    with lab_scope(lab.pk):
        version = InstrumentVersion.objects.get()
        assert list(AuditEntry.objects.values_list("action", flat=True)) == ["publish_instrument"]
    page = client.get(f"/admin/questionnaires/instrumentversion/{version.pk}/change/")
    assert "About close_1" in page.content.decode()
    assert "Not validated" in page.content.decode()
    assert client.get(f"{BASE}{draft.pk}/delete/").status_code in (403, 404)


def test_a_scoring_key_becomes_a_draft_that_waits_for_its_words(lab: Lab) -> None:
    client = signed_in("Erin", lab)
    response = client.post(f"{BASE}scoring-keys/", {"key": "panas", "language": "zh"})
    assert response.status_code == 302
    client.post(f"{BASE}scoring-keys/", {"key": "panas", "language": "en"})
    with lab_scope(lab.pk):
        draft = Instrument.objects.get()
        assert draft.content() == scoring_keys()["panas"].in_languages("zh")
        assert "20 adjectives" in draft.licence
        assert len(draft.problems()) == 20
    page = client.get(f"{BASE}{draft.pk}/as-read/").content.decode()
    assert "no text yet" in page
    assert "paste the wording" in page


def test_a_questionnaire_is_placed_on_the_studys_page(lab: Lab) -> None:
    study, another = make_study(lab), make_study(lab)
    client = signed_in("Erin", lab)
    with lab_scope(lab.pk):
        draft = Instrument.objects.store(CLOSENESS)
        stage = study.stages.get(key="T2")
        foreign = another.stages.get(key="T2")
    address = f"/admin/experiments/study/{study.pk}/change/"
    posted = unchanged(client, address) | {
        "placements-TOTAL_FORMS": "1",
        "placements-0-moment": "after",
        "placements-0-position": "1",
        "placements-0-instrument": str(draft.pk),
    }
    assert "Choose the stage" in client.post(address, posted).content.decode()
    assert client.post(address, posted | {"placements-0-stage": foreign.pk}).status_code == 200
    assert client.post(address, posted | {"placements-0-stage": stage.pk}).status_code == 302
    with lab_scope(lab.pk):
        assert [each.key for each in study.configuration().placements] == ["after:T2:1"]


WARM = instrument(
    *(item(f"w{number}", subscale="warm") for number in (1, 2, 3)),
    item("check", expected=4.0),
    key="warm",
)
PEOPLE = [(1.0, 2.0, 2.0), (2.0, 2.0, 3.0), (3.0, 4.0, 3.0), (4.0, 4.0, 4.0)]


def answered(
    lab: Lab, content: InstrumentContent, people: Sequence[Sequence[float]], **fields: Any
) -> Any:
    """A study that ``people`` have answered after T1, the last of them inattentively."""
    study = make_study(lab, title="A study of warmth")
    with lab_scope(lab.pk):
        draft = Instrument.objects.store(content)
        Placement.objects.create(
            study=study, moment=Moment.AFTER, stage=study.stages.get(key="T1"), instrument=draft
        )
        version = draft.publish()
    for number, values in enumerate(people):
        participant = enrol(study, **fields)
        given = dict(zip([each.code for each in content.items], values, strict=False))
        given["check"] = 1.0 if number == len(people) - 1 else 4.0
        result = scored(content, given)
        with lab_scope(lab.pk):
            response = Response.objects.create(
                id=response_id(participant.public_id, "after:T1:1"),
                participant=participant,
                version=version,
                moment=Moment.AFTER,
                stage_key="T1",
                position=1,
                state=ResponseState.COMPLETE,
                seed="seed",
                started_at=wall_now() - timedelta(minutes=5),
                completed_at=wall_now(),
                attention_failures=result.attention_failures,
            )
            Answer.objects.bulk_create(
                Answer(
                    response=response,
                    item=code,
                    raw=value,
                    value=value,
                    scored=result.scored[code],
                    page=1,
                    answered_at=wall_now(),
                )
                for code, value in given.items()
            )
            Score.objects.bulk_create(
                Score(
                    response=response,
                    subscale=score.subscale,
                    value=score.value,
                    answered=score.answered,
                    items=score.items,
                )
                for score in result.scores
            )
    return study


def test_the_report_says_means_alpha_omega_and_attention(lab: Lab) -> None:
    study = answered(lab, WARM, PEOPLE)
    page = signed_in("Bob", lab).get(f"/admin/experiments/study/{study.pk}/scores/")
    (place,) = page.context["places"]
    (score,) = place.subscales
    assert (place.responses, place.checks, place.failed) == (4, 1, 1)
    assert (score.subscale, score.people, score.complete) == ("warm", 4, 4)
    assert score.mean == pytest.approx((5 + 7 + 10 + 12) / 12)
    assert score.deviation == pytest.approx((29 / 3) ** 0.5 / 3)
    assert score.alpha.value == pytest.approx(27 / 29)
    assert score.omega.value == pytest.approx(omega(covariance(PEOPLE)))
    assert [each.mean for each in score.items] == [2.5, 3.0, 3.0]
    assert "1 person failed an attention check" in page.content.decode()


def test_the_report_says_why_there_is_no_coefficient(lab: Lab) -> None:
    study = answered(lab, WARM, [(2.0, 1.0, 5.0), (2.0, 3.0, 5.0), (2.0, 4.0, 5.0)])
    page = signed_in("Bob", lab).get(f"/admin/experiments/study/{study.pk}/scores/")
    (score,) = page.context["places"][0].subscales
    assert score.alpha.why == score.omega.why == "everybody answered w1, w3 alike"


def test_test_runs_are_not_reported(lab: Lab) -> None:
    study = answered(lab, WARM, PEOPLE, test_mode=True)
    page = signed_in("Bob", lab).get(f"/admin/experiments/study/{study.pk}/scores/")
    assert page.context["places"] == ()
    assert "Nobody has completed" in page.content.decode()


def test_who_refused_the_use_of_their_data_is_not_reported(lab: Lab) -> None:
    study = answered(lab, WARM, PEOPLE)
    with lab_scope(lab.pk):
        for person, agreed in zip(
            study.participants.order_by("pk")[:2], (False, True), strict=True
        ):
            answer_debriefing(person, agreed=agreed, now=wall_now())
    page = signed_in("Bob", lab).get(f"/admin/experiments/study/{study.pk}/scores/")
    assert [place.responses for place in page.context["places"]] == [len(PEOPLE) - 1]


@pytest.mark.parametrize("kind", ["instrument", "response", "answer", "score", "placement"])
def test_a_list_costs_as_many_queries_for_three_rows_as_for_one(lab: Lab, kind: str) -> None:
    client = signed_in("Alice", lab)
    address = f"/admin/questionnaires/{kind}/"
    counts = []
    for number in range(3):
        answered(lab, replace(WARM, key=f"warm_{number}"), PEOPLE[: number + 1])
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[2]
    assert counts[0] <= 18


def test_a_sheet_larger_than_allowed_is_not_read_whole(lab: Lab) -> None:
    page = upload(signed_in("Erin", lab), io.BytesIO(b"x" * (3 * 1024 * 1024)).getvalue())
    (problem,) = page.context["problems"]
    assert "KiB" in problem.remedy
