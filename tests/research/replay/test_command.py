"""The command refuses before it writes, and real processes clean up after themselves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from experiments.models.lab import LabDirectory
from memlab.core.clock import wall_now
from memlab.research.replay import laboratory
from tests.research.replay.conftest import FIXTURES

ROOT = Path(__file__).parents[3]
GUITAR = str(FIXTURES / "guitar-zh.json")
REPORT = "--report=/tmp/never-written.json"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--architecture=all", REPORT], "No file is named"),
        ([GUITAR, REPORT], "--architecture: none is named. Write all, or some of sensory, working"),
        ([GUITAR, "--architecture=gist,eidetic", REPORT], "--architecture: unknown: eidetic."),
        ([GUITAR, "--architecture=gist"], "--report is missing"),
        ([GUITAR, "--architecture=gist", "--report=/nowhere/r.json"], "/nowhere/r.json can't be"),
        ([GUITAR, "--architecture=gist", REPORT, "--embedder=word2vec"], "--embedder: .*word2vec"),
        ([GUITAR, "--architecture=gist", REPORT, "--llm=qwen"], "--llm: .*qwen"),
        ([GUITAR, "--architecture=hybrid", REPORT, "--ranking=alphabetical"], "argument --ranking"),
        ([GUITAR, "--architecture=hybrid", REPORT, "--preset=yearly"], "--preset: 'yearly'"),
        ([GUITAR, "--architecture=sensory", REPORT, "--preset=weekly"], "--preset: 'weekly'"),
        ([GUITAR, "--architecture=hybrid", REPORT, "--encode=some"], "argument --encode"),
        (["none.json", "--architecture=gist", REPORT], r"none\.json: \$: the file can't be read"),
        ([str(ROOT / "pyproject.toml"), "--architecture=gist", REPORT], r"\$: no JSON at line 1"),
    ],
)
def test_what_can_not_be_done_is_refused_before_anything_is_written(
    arguments: list[str], told: str
) -> None:
    # Without the mark django_db, a test that reached the database would fail.
    with pytest.raises(CommandError, match=told):
        call_command("replay", *arguments)
    assert not Path("/tmp/never-written.json").exists()


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`manage.py replay` on the database of this test."""
    database = connection.settings_dict
    address = f"{quote(database['HOST'], safe='')}:{database['PORT']}"
    user = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
    url = f"postgres://{user}@{address}/{database['NAME']}"
    running = subprocess.Popen(
        [sys.executable, "manage.py", "replay", *arguments],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "memlab.settings.test"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def until_it_has_a_lab(running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not LabDirectory.objects.exists():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.django_db(transaction=True)
def test_a_process_writes_its_report_and_leaves_nothing(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with process(GUITAR, "--architecture=sensory,working", f"--report={report}") as running:
        _out, told = running.communicate(timeout=120)
        assert running.returncode == 0, told
    assert [line.split(" · ")[0] for line in told.splitlines()[:2]] == [
        "dialogue 1/1 guitar-zh"
    ] * 2
    assert told.splitlines()[2].startswith(f"2 rows in {report} after ")
    assert [row["turns"] for row in json.loads(report.read_text())] == [20, 20]
    assert not LabDirectory.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_told_to_end_cleans_up(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with process(GUITAR, "--architecture=all", f"--report={report}") as running:
        until_it_has_a_lab(running)
        running.send_signal(signal.SIGINT)
        _out, told = running.communicate(timeout=60)
    assert running.returncode == 130, told
    assert "Interrupted: the lab is erased, no report is written." in told
    assert not report.exists()
    assert not LabDirectory.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_process_leaves_is_erased_later(tmp_path: Path) -> None:
    with process(GUITAR, "--architecture=all", f"--report={tmp_path / 'r.json'}") as running:
        until_it_has_a_lab(running)
    assert laboratory.clean(wall=wall_now(), kept=False) == 0  # its lease may still be renewed
    assert laboratory.clean(wall=wall_now() + timedelta(minutes=1), kept=False) == 1
    assert not LabDirectory.objects.exists()
