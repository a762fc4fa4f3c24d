"""The `standin` fixture; a conftest makes it available with `pytest_plugins`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.standin.server import StandIn


@pytest.fixture(scope="session")
def _running_standin() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


@pytest.fixture
def standin(_running_standin: StandIn) -> StandIn:
    """A scripted provider on 127.0.0.1, with nothing scripted or received yet."""
    _running_standin.reset()
    return _running_standin
