"""One installation for all tests of real processes: making it takes longer than they do."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.processes.house import House
from tests.standin import Answer, StandIn

QUICK = Answer(text="A short answer.")
SLOW = Answer(text=" ".join(f"word{number}" for number in range(200)), delay=0.1)


@pytest.fixture(scope="package")
def provider() -> Iterator[StandIn]:
    with StandIn(QUICK) as running:
        yield running


@pytest.fixture(scope="package")
def house(tmp_path_factory: pytest.TempPathFactory, provider: StandIn) -> Iterator[House]:
    house = House(tmp_path_factory.mktemp("house"), provider.openai_url)
    try:
        house.run("manage.py", "migrate", "--verbosity", "0")
        yield house
    finally:
        house.close()


@pytest.fixture
def people(house: House, provider: StandIn) -> Iterator[dict[str, dict[str, str]]]:
    """A lab with two participants for one test, and every process stopped after it."""
    provider.reset()
    provider.default = QUICK
    yield json.loads(house.run("-m", "tests.processes.prepare", provider.openai_url))
    house.kill_all()
