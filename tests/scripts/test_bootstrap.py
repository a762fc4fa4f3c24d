"""What a newcomer is told when the first start can't work, each time by the real script."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bootstrap import diagnosis

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the script and one requirement that no index is needed to refuse."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(CHECKOUT / "scripts" / "bootstrap.py", tmp_path / "scripts")
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    for name in ("base", "local", "dev"):
        (tmp_path / "requirements" / f"{name}.txt").write_text("")
    return tmp_path


def bootstrap(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/bootstrap.py", "requirements/local.txt", ".venv/.ready"],
        cwd=checkout,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_unreachable_index_is_said_in_plain_words(checkout: Path) -> None:
    (checkout / "requirements" / "local.txt").write_text("memlab-needs-no-such-package==1.0\n")
    done = bootstrap(
        checkout,
        PIP_CONFIG_FILE=os.devnull,
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_FIND_LINKS="",
        PIP_RETRIES="1",
        PIP_DEFAULT_TIMEOUT="2",
    )
    assert done.returncode == 1
    assert "memlab: The package index can't be reached." in done.stderr
    assert not (checkout / ".venv" / ".ready").exists()
    # The environment itself is fine, and a second attempt goes on from there.
    (checkout / "requirements" / "local.txt").write_text("")
    assert bootstrap(checkout).returncode == 0
    assert (checkout / ".venv" / ".ready").exists()


def test_folder_that_cannot_be_written_is_named(checkout: Path) -> None:
    # Not by permissions, which don't bind root: by a folder where the script wants a file.
    (checkout / ".bootstrap-probe").mkdir()
    done = bootstrap(checkout)
    assert done.returncode == 1
    assert f"memlab: {checkout} can't be written" in done.stderr


def test_make_without_a_new_enough_python_says_how_to_name_one(checkout: Path) -> None:
    tools = checkout / "tools"
    tools.mkdir()
    for name in ("sh", "make", "sed", "test", "echo"):
        (tools / name).symlink_to(shutil.which(name) or "")
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tools / "python3").chmod(0o755)
    done = subprocess.run(
        ["make", "run"],
        cwd=checkout,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "memlab: no Python from 3.11 on found" in done.stderr
    assert "make run PYTHON=" in done.stderr


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("error: command 'gcc' failed: No such file or directory", "needs a compiler"),
        ("error: command '/usr/bin/cc' failed with exit code 1", "needs a compiler"),
        ("ERROR: Failed building wheel for numpy", "needs a compiler"),
        ("ERROR: Could not find a version that satisfies the requirement x==1", "isn't offered"),
        ("[Errno 28] No space left on device", "The disk is full"),
        ("[Errno 30] Read-only file system: '.venv/lib'", "can't be written"),
        ("[Errno 13] Permission denied: '.venv/lib'", "can't be written"),
        (
            "Retrying after connection broken by 'NewConnectionError(...)': Temporary failure in "
            "name resolution\nERROR: Could not find a version that satisfies x==1",
            "can't be reached",
        ),
    ],
)
def test_words_of_pip_are_explained(printed: str, told: str) -> None:
    assert told in (diagnosis(printed) or "")


def test_unknown_words_of_pip_are_not_explained_away() -> None:
    assert diagnosis("ERROR: something entirely new") is None
