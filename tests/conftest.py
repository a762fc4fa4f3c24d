"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import pytest

from experiments.models import Lab

pytest_plugins = ["tests.standin.plugin"]


@pytest.fixture
def lab(db: None) -> Lab:
    """Alice's lab."""
    return Lab.objects.found(name="Lab of memory")


@pytest.fixture
def other_lab(db: None) -> Lab:
    """Charlie's lab, which must never show up in Alice's."""
    return Lab.objects.found(name="Lab of elsewhere")
