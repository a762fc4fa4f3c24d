"""Recruiters' ids can be guessed: one address may try only so many of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from experiments.access import COOKIE
from experiments.enums import IdentifierKind, RecruiterKind, StudyStatus
from experiments.models import (
    FailedReturn,
    Identifier,
    Identity,
    Lab,
    Participant,
    Recruiter,
    Study,
    Tombstone,
)
from experiments.models.returning import WINDOW
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.journey.entry import guessing
from tests.studies import make_study

pytestmark = pytest.mark.django_db
MOST = 3


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessing, "MOST_IDS", MOST)


@pytest.fixture
def recruiter(lab: Lab) -> Recruiter:
    study = make_study(lab)
    with lab_scope(lab.pk):
        study.open()
        return Recruiter.objects.create(study=study, kind=RecruiterKind.SONA)


def inside(recruiter: Recruiter, *ids: str) -> None:
    """People who are in the study under these ids."""
    with lab_scope(recruiter.lab_id):
        for each in ids:
            person = Participant.objects.create(study=recruiter.study)
            Identifier.objects.keep(person, Identity(IdentifierKind.SONA, each))


def comes(recruiter: Recruiter, who: str, *, client: Client | None = None, **more: Any) -> Any:
    return (client or Client()).post(f"/join/{recruiter.token}/?id={who}", **more)


def opens(recruiter: Recruiter, who: str, *, client: Client | None = None) -> Any:
    return (client or Client()).get(f"/join/{recruiter.token}/?id={who}")


def test_an_address_comes_in_as_so_many_people_and_no_more(recruiter: Recruiter) -> None:
    known = [str(number) for number in range(10_000, 10_000 + MOST + 1)]
    inside(recruiter, *known)
    assert [comes(recruiter, who).status_code for who in known] == [302] * MOST + [429]
    refused = comes(recruiter, known[MOST])
    assert COOKIE not in refused.cookies
    assert refused["Retry-After"] == "900"
    assert "wait a quarter of an hour" in refused.content.decode()
    # Others are let in, and who was let in before from here still is.
    assert comes(recruiter, known[MOST], REMOTE_ADDR="10.0.0.8").status_code == 302
    assert comes(recruiter, known[0]).status_code == 302
    FailedReturn.objects.update(since=wall_now() - WINDOW - timedelta(seconds=1))
    assert comes(recruiter, known[MOST]).status_code == 302


def test_then_every_id_gets_the_same_answer(recruiter: Recruiter) -> None:
    known = [str(number) for number in range(10_000, 10_000 + MOST + 1)]
    inside(recruiter, *known)
    for who in known[:MOST]:
        assert opens(recruiter, who).status_code == 200  # looking is counted, too
    for who in (known[MOST], "99999"):
        assert opens(recruiter, who).status_code == 429
        assert comes(recruiter, who).status_code == 429


def test_the_same_id_again_is_one(recruiter: Recruiter) -> None:
    inside(recruiter, "10000", "10001")
    for _each in range(MOST + 2):
        assert opens(recruiter, "10000").status_code == 200
        assert comes(recruiter, "10000").status_code == 302
    assert comes(recruiter, "10001").status_code == 302


def test_newcomers_and_browsers_that_are_known_are_not_counted(recruiter: Recruiter) -> None:
    browsers = {str(number): Client() for number in range(20_000, 20_000 + 2 * MOST)}
    for who, client in browsers.items():
        assert opens(recruiter, who, client=client).status_code == 200
        assert comes(recruiter, who, client=client).status_code == 302
    assert not FailedReturn.objects.exists()
    for who, client in browsers.items():
        assert opens(recruiter, who, client=client).status_code == 302
    assert not FailedReturn.objects.exists()


@pytest.mark.parametrize("door", ["later stage", "closed", "erased"])
def test_ids_that_get_another_answer_than_a_newcomer_are_counted(
    recruiter: Recruiter, door: str
) -> None:
    unknown = [str(number) for number in range(30_000, 30_000 + MOST)]
    with lab_scope(recruiter.lab_id):
        if door == "later stage":
            recruiter.stage = recruiter.study.stages.get(key="T2")
            recruiter.save()
        elif door == "closed":
            Study.objects.update(status=StudyStatus.CLOSED)
        else:
            for who in unknown:
                digest = Identity(IdentifierKind.SONA, who).digests(recruiter.lab_id)[0]
                Tombstone.objects.create(
                    study=recruiter.study, kind=IdentifierKind.SONA, digest=digest
                )
    assert [opens(recruiter, who).status_code for who in unknown] == [403] * MOST
    assert opens(recruiter, "40000").status_code == 429


def test_neither_id_nor_address_is_kept(recruiter: Recruiter) -> None:
    inside(recruiter, "SONACANARY")
    comes(recruiter, "SONACANARY")
    rows = str(list(FailedReturn.objects.values_list()))
    assert FailedReturn.objects.count() == 2
    assert "SONACANARY" not in rows
    assert "127.0.0.1" not in rows
