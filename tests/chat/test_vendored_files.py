"""The libraries that browsers and browser tests load are the ones their READMEs name."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VENDOR = ROOT / "static" / "vendor"
TEST_VENDOR = ROOT / "tests" / "e2e" / "vendor"
ROW = re.compile(r"^\| `([^`]+)` \|.*`([0-9a-f]{64})` \|$", re.MULTILINE)
HASHES = dict(ROW.findall((VENDOR / "README.md").read_text(encoding="utf-8")))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def scripts() -> list[Path]:
    return sorted([*VENDOR.rglob("*.js"), *VENDOR.rglob("*.css")])


def test_readme_names_every_vendored_file() -> None:
    assert sorted(HASHES) == sorted(path.relative_to(VENDOR).as_posix() for path in scripts())


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.name)
def test_vendored_script_is_the_one_that_the_readme_names(path: Path) -> None:
    assert sha256(path) == HASHES[path.relative_to(VENDOR).as_posix()]


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.name)
def test_vendored_script_names_no_source_map(path: Path) -> None:
    assert "sourceMappingURL" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.name)
def test_vendored_script_has_its_licence_beside_it(path: Path) -> None:
    assert list(path.parent.glob("LICENSE*"))


def test_axe_is_the_one_that_its_readme_names() -> None:
    assert sha256(TEST_VENDOR / "axe.min.js") in (TEST_VENDOR / "README.md").read_text("utf-8")
