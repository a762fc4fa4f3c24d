"""CONTRIBUTING's page on adding an architecture names every file; a plug-in needs none of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOT = Path(__file__).parents[2]
PACKAGES = ("chat", "experiments", "memlab", "memory", "tests", "docs", "fixtures", "scripts")
#: What only exists for the architecture that the page is held against.
OF_RETENTION = re.compile(
    r"RetainedItem|RetentionScore|RETAINED\b|EXTRACT_ITEMS|extract_items|items_from|item_prompts"
    r"|working_set|retention_rule|[\"']retention[\"']"
)
#: Places that speak of every architecture at once, or of the page's example.
OF_ALL = re.compile(
    r"tests/plugin/.*|tests/memory/test_traces\.py|docs/.*|memlab/research/.*|tests/research/.*"
    r"|memory/migrations/0002_more_kinds\.py"
)


def page() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split("## Adding a memory architecture\n")[1].split("\n## ")[0]


def named() -> list[tuple[str, str]]:
    """Each file that the page's table names, with when it is needed."""
    rows = [line.strip("|").split(" | ") for line in page().splitlines() if line.startswith("| `")]
    return [
        (path, cells[-1].strip(" |"))
        for cells in rows
        for path in re.findall("`([^`]+)`", cells[0])
    ]


def pattern_of(path: str) -> re.Pattern[str]:
    """A named path, with anything in the place of what stands in angle brackets."""
    parts = re.split(r"<\w+>", path)
    return re.compile("[^/]+".join(re.escape(part) for part in parts))


def files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (
            path
            for path in (ROOT / package).rglob("*")
            if path.suffix in (".py", ".html", ".md", ".json", ".toml")
            and "__pycache__" not in path.parts
        )


def mentioning(sign: re.Pattern[str]) -> list[str]:
    return sorted(
        str(path.relative_to(ROOT)) for path in files() if sign.search(path.read_text("utf-8"))
    )


def test_the_plug_in_touches_no_file_outside_its_package() -> None:
    assert mentioning(re.compile("keepsake", re.IGNORECASE)) == [
        "tests/plugin/conftest.py",  # its line in MEMORY_ARCHITECTURES
        "tests/plugin/keepsake.py",  # its class
        "tests/plugin/test_files.py",
        "tests/plugin/test_keepsake.py",  # its tests
    ]


def test_the_page_names_every_file_that_an_architecture_of_ours_touches() -> None:
    patterns = [pattern_of(path) for path, _when in named()]
    mirrored = re.compile(r"tests/(?:memory|core|admin|chat)/.*")  # tests that mirror the rest
    unnamed = [
        path
        for path in mentioning(OF_RETENTION)
        if not OF_ALL.fullmatch(path)
        and not mirrored.fullmatch(path)
        and not any(pattern.fullmatch(path) for pattern in patterns)
    ]
    assert unnamed == []


def test_what_the_page_names_is_there() -> None:
    there = [str(path.relative_to(ROOT)) for path in files()]
    there += ["locale/zh_Hans/LC_MESSAGES/django.po"]
    for path, _when in named():
        assert any(pattern_of(path).fullmatch(each) for each in there), path


def test_every_architecture_has_the_files_that_the_page_always_asks_for() -> None:
    assert [path for path, when in named() if when == "always"] == [
        "memory/architectures/<key>.py",
        "memlab/settings/base.py",
        "tests/memory/architectures/test_<key>.py",
        "locale/zh_Hans/LC_MESSAGES/django.po",
    ]
    for key, path in settings.MEMORY_ARCHITECTURES.items():
        if path.startswith("memory."):
            assert path.startswith(f"memory.architectures.{key}."), key
            assert (ROOT / f"memory/architectures/{key}.py").is_file()
