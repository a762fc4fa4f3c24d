"""Sessions in every arm at the same time, and what is found when they are laid side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from statistics import median

import numpy as np

from chat import steps
from experiments.doors import DoorKeeper
from memlab.core.clock import wall_now
from memlab.research.bench.scratch import pooled
from memlab.research.bench.server import serving
from memlab.research.blinding.comparison import Comparison, Measured, compared
from memlab.research.blinding.people import Pace, Person, people
from memlab.research.blinding.visit import Seen, Visit

Say = Callable[[str], None]
#: What is measured, in the order in which a participant meets it, and its unit.
MEASURES = (
    ("a page", "ms"),
    ("enter a stage", "ms"),
    ("until the conversation is ready", "ms"),
    ("history", "ms"),
    ("ack", "ms"),
    ("waiting", "ms"),
    ("first token, first turn", "ms"),
    ("first token", "ms"),
    ("a token's time", "ms"),
    ("between two token frames", "ms"),
    ("from the last token to the reply", "ms"),
    ("end", "ms"),
    ("leave a stage", "ms"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """``each`` sessions of ``turns`` turns in every arm, ``at_once`` of them at the same time.

    As many more as ``warming_up`` come first in each arm and don't count. ``preparing``: seconds
    for which a conversation shows that it is being prepared.
    """

    each: int = 100
    turns: int = 3
    at_once: int = 8
    warming_up: int = 1
    preparing: int = 6
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """``structure`` says by arm how its bytes, headers or frames differ from the first arm's; it
    is empty if nothing does. ``late`` is how often, by arm, a first token came after the floor and
    ``LATE`` ms more, in percent of all turns."""

    sessions: Mapping[str, int]
    structure: Mapping[str, str]
    comparisons: Sequence[Comparison]
    late: Mapping[str, float]


LATE = 100.0


def check(architectures: Sequence[str], size: Size, say: Say) -> Found:
    """All sessions, on the default connection's database, beside a web process of their own."""
    say(f"making {size.each} participants in each of {len(architectures)} arms")
    each = size.warming_up + size.each
    everybody = people(architectures, each, size.pace, wall=wall_now())
    first = size.warming_up * len(architectures)
    say(f"{len(everybody)} sessions of {size.turns} turns, {size.at_once} at once")
    with (
        serving(
            "platform",
            module="memlab.research.blinding.web",
            settings_module="memlab.settings.measured",
            environment={"MEMLAB_PREPARING_SECONDS": str(size.preparing)},
        ) as server,
        pooled(),
    ):
        seen = asyncio.run(_all(server.origin, everybody, size, say))
    by_arm: dict[str, list[Seen]] = {architecture: [] for architecture in architectures}
    for person, one in zip(everybody[first:], seen[first:], strict=True):
        by_arm[person.arm].append(one)
    return found(by_arm, size.pace)


async def _all(origin: str, everybody: Sequence[Person], size: Size, say: Say) -> list[Seen]:
    keeper = DoorKeeper()
    places = asyncio.Semaphore(size.at_once)
    done = 0

    async def visited(person: Person) -> Seen:
        nonlocal done
        async with places:
            remember = partial(steps.run_steps, person.lab_id, person.participant, keeper)
            seen = await Visit(origin, person, size.turns, remember).whole()
        done += 1
        if done % 100 == 0:
            say(f"{done} of {len(everybody)} sessions")
        return seen

    try:
        return list(await asyncio.gather(*(visited(person) for person in everybody)))
    finally:
        await keeper.aclose()


def found(by_arm: Mapping[str, Sequence[Seen]], pace: Pace) -> Found:
    """What differs between arms."""
    measures = [
        Measured(
            name=name,
            unit=unit,
            arms={
                arm: [median(seen.times[name]) for seen in each if name in seen.times]
                for arm, each in by_arm.items()
            },
        )
        for name, unit in MEASURES
    ]
    told = [row for row in measures if all(row.arms.values())]
    return Found(
        sessions={arm: len(each) for arm, each in by_arm.items()},
        structure=_structure(by_arm),
        comparisons=compared(told, np.random.default_rng(23)),
        late={arm: _late(each, pace) for arm, each in by_arm.items()},
    )


def _structure(by_arm: Mapping[str, Sequence[Seen]]) -> dict[str, str]:
    """The first session that differs from the first of all, by arm; nobody else's is shown."""
    first = next(iter(by_arm.values()))[0].structure
    differing: dict[str, str] = {}
    for arm, sessions in by_arm.items():
        for seen in sessions:
            if seen.structure != first:
                differing[arm] = _difference("\n".join(first), "\n".join(seen.structure))
                break
    return differing


def _difference(one: str, other: str) -> str:
    return "\n".join(unified_diff(one.splitlines(), other.splitlines(), lineterm="", n=1))


def _late(sessions: Sequence[Seen], pace: Pace) -> float:
    tokens = [
        value
        for seen in sessions
        for name in ("first token", "first token, first turn")
        for value in seen.times.get(name, [])
    ]
    return 100 * sum(value > pace.first_token_ms + LATE for value in tokens) / len(tokens)
