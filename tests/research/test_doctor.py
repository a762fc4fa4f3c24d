"""The doctor: what it says of a healthy installation, and of each thing that is wrong."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import call_command
from django_q.models import Schedule

from experiments.enums import StudyStatus
from experiments.models import Lab, Study
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memlab.research import doctor
from tests.studies import make_study

pytestmark = pytest.mark.django_db

EVERYTHING = [
    "database role",
    "row-level security",
    "migrations",
    "tick",
    "task processes",
    "overdue work",
    "channel layer",
    "e-mail",
    "storage",
    "log of erasures",
    "SECRET_KEY",
    "MEMLAB_SECRET_KEYS",
]


@pytest.fixture(autouse=True)
def _files(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    settings.ERASURE_LOG = tmp_path / "erasures"


def test_it_looks_at_everything_and_misses_the_tasks_alone(settings) -> None:
    settings.SECRET_KEY = "x" * 50
    found = list(doctor.looks())
    assert [look.what for look in found] == EVERYTHING
    assert [look.what for look in found if not look.well] == ["task processes"]


def test_the_command_fails_with_what_is_to_be_put_right(settings) -> None:
    settings.SECRET_KEY = "x" * 50
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--no-models", stdout=out)
    assert ended.value.code == 1
    lines = out.getvalue().splitlines()
    assert "!! task processes: 0 beating → Start `manage.py qcluster`." in lines
    assert lines[-1] == "1 to put right"


def test_what_is_wrong_is_found(settings, tmp_path: Path, lab: Lab) -> None:
    settings.SECRET_KEY = "short"
    assert not doctor.secret_key().well
    settings.PROVIDER_KEY_SECRETS = []
    assert doctor.provider_secrets().found == "not set"
    settings.PROVIDER_KEY_SECRETS = ["nonsense"]
    assert doctor.provider_secrets().found == "no Fernet key"
    settings.EMAIL_BACKEND = ""
    assert doctor.mail().found == "not set up"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    assert doctor.mail().found.endswith("ConnectionRefusedError")
    (tmp_path / "doctor").write_text("in the way of a folder")
    assert not doctor.storage().well
    Schedule.objects.all().delete()
    assert doctor.tick().found == "0 schedules"
    Due.objects.plan(
        lab_id=lab.pk,
        kind=DueKind.STEPS,
        subject=uuid4(),
        study_at=None,
        wall_at=wall_now() - timedelta(minutes=11),
    )
    assert doctor.overdue().found == "1 later than 10 minutes"


@pytest.mark.django_db(transaction=True)
def test_models_of_studies_that_run_are_asked(lab: Lab) -> None:
    offline, keyless = make_study(lab), make_study(lab, talking_provider="dashscope")
    make_study(lab, title="A draft")
    with lab_scope(lab.pk):
        Study.objects.filter(pk__in=[offline.pk, keyless.pk]).update(status=StudyStatus.PILOTING)
    found = list(doctor.models_of_open_studies())
    assert [(look.what, look.well) for look in found] == [
        (f"study {offline.public_id}", True),
        (f"study {keyless.public_id}, talking", False),
    ]


def test_a_log_of_erasures_that_can_not_be_written(settings, tmp_path: Path) -> None:
    assert doctor.erasures().well
    (tmp_path / "file").write_text("")
    settings.ERASURE_LOG = tmp_path / "file" / "erasures"
    assert "MEMLAB_ERASURE_LOG" in doctor.erasures().remedy
