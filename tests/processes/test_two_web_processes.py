"""Tabs on two web processes: Redis rings for both, and without it nothing is lost."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest

from tests.processes.conftest import SLOW
from tests.processes.house import Guest, House
from tests.standin import StandIn

REDIS = shutil.which("redis-server")


@pytest.mark.skipif(REDIS is None, reason="redis-server is not installed on this machine")
async def test_tabs_on_two_web_processes_see_the_same(
    house: House, people: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert REDIS is not None
    monkeypatch.setattr(house, "environment", dict(house.environment))
    house.start_redis(REDIS)
    ports = [house.start_web("one"), house.start_web("two")]
    person = people["remembering"]
    async with Guest(person, ports[0]) as one, Guest(person, ports[1]) as two:
        await two.until(lambda frame: frame["type"] == "timer")
        for guest, text in ((one, "What is my parrot called?"), (two, "And yours?")):
            await guest.say(text)
            await asyncio.gather(
                *(each.until(lambda frame: frame["type"] == "reply") for each in (one, two))
            )
        assert shared(one) == shared(two)
        assert {frame["type"] for frame in shared(one)} >= {"message", "waiting", "token", "reply"}


async def test_tabs_on_two_web_processes_without_redis_see_it_a_second_later(
    house: House, people: dict[str, dict[str, str]], provider: StandIn
) -> None:
    """A lost doorbell costs a second, and who dies in mid-reply is replaced by the other."""
    ports = [house.start_web("one"), house.start_web("two")]
    person = people["remembering"]
    async with Guest(person, ports[0]) as one, Guest(person, ports[1]) as two:
        await one.say("What is my parrot called?")
        first = await one.until_settled()
        two.said, two.acked = one.said, one.acked
        assert await two.until_settled() == first
        provider.default = SLOW
        await one.say("And yours?")
        await one.until(lambda frame: frame["type"] == "token")
        provider.reset()
        house.kill("one")
        history = await two.until_settled(within=40)
        assert history[-1]["attempt"] == 2
        one.port = ports[1]
        await one.connect()


def shared(guest: Guest) -> list[dict[str, Any]]:
    """What every tab gets, in order; a history or an acknowledgement is a tab's own."""
    own = ("history", "ack", "timer")
    return [frame for frame in guest.frames if frame["type"] not in own]
