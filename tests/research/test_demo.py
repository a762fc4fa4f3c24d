"""The demo lab: there after one run, the same after two, with a password that is always new."""

from __future__ import annotations

import json
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from experiments.enums import Language, StudyStatus
from experiments.models import EntryLink, LabDirectory, Member, Study, User
from memlab.core.tenancy import lab_scope
from memlab.research.demo import OWNER, load_demo

pytestmark = pytest.mark.django_db


def test_a_second_run_changes_the_password_and_nothing_else(tmp_path: Path) -> None:
    remembered = tmp_path / "data" / "demo.json"
    first, second = load_demo(remembered), load_demo(remembered)
    assert second.links == first.links
    assert second.password != first.password
    assert User.objects.get(email=OWNER).check_password(second.password)
    assert stat.S_IMODE(remembered.stat().st_mode) == 0o600
    assert second.password not in remembered.read_text()
    lab_id = Member.objects.get(user__email=OWNER).lab_id
    assert LabDirectory.objects.count() == 1
    with lab_scope(lab_id):
        studies = {study.language: study for study in Study.objects.all()}
        assert set(studies) == set(Language)
        for language, links in second.links.items():
            assert studies[language].status == StudyStatus.OPEN
            assert studies[language].versions.count() == 1
            for token, test_mode in ((links.entry, False), (links.test, True)):
                link = EntryLink.objects.find(token)
                assert link is not None
                assert (link.study_id, link.test_mode) == (studies[language].pk, test_mode)


def test_lost_tokens_are_replaced(tmp_path: Path) -> None:
    remembered = tmp_path / "demo.json"
    first = load_demo(remembered)
    remembered.unlink()
    second = load_demo(remembered)
    for language, links in second.links.items():
        assert links.entry != first.links[language].entry
        assert EntryLink.objects.find(links.entry) is not None


def test_the_command_prints_what_make_run_needs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MEMLAB_DATA_DIR", str(tmp_path))
    out = StringIO()
    call_command("load_demo", "--json", stdout=out)
    printed = json.loads(out.getvalue())
    assert printed["admin_path"] == "/admin/"
    client = Client()
    assert client.get(printed["participant_path"]).status_code in (200, 302)
    response = client.post(
        "/admin/login/",
        {"username": printed["admin_username"], "password": printed["admin_password"]},
    )
    assert response.status_code == 302
