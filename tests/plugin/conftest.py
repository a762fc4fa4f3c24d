"""The installation as the lab's own settings would make it."""

from __future__ import annotations

import pytest
from django.conf import settings as installed

KEEPSAKES = {"keepsakes": "tests.plugin.keepsake.Keepsakes"}


@pytest.fixture(autouse=True)
def own_architecture(settings) -> None:
    """One more line in ``MEMORY_ARCHITECTURES``: all that a plug-in needs of a settings module."""
    settings.MEMORY_ARCHITECTURES = {**installed.MEMORY_ARCHITECTURES, **KEEPSAKES}
