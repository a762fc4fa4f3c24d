"""The platform's share of a turn: everything but the models, beside a socket that does nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memlab.research.bench.clients import Seat, Turn, converse, open_chats
from memlab.research.bench.report import Figure, percentile, ratio
from memlab.research.bench.server import Server, serving

Say = Callable[[str], None]
PERCENTILES = (50, 95)
MEASURED = {"ack": lambda turn: turn.ack, "first token": lambda turn: turn.first_token}


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Levels of chats that are under way at once.

    ``every`` is how many seconds pass between two messages of one participant, reply included: a
    person reads and types. ``at_once`` chats are then asked without any pause, all beginning
    together, which nobody's study does: it shows where the machine ends. Goals are of level
    ``judged``.
    """

    levels: tuple[int, ...] = (1, 50, 200, 400)
    every: float = 20.0
    seconds: float = 20.0
    at_once: int = 200
    judged: int = 200
    ack_goal: float = 250.0  # ms, p95
    first_token_goal: float = 2.0  # of the bare socket's


QUICK = Load(levels=(1, 50, 200), every=10.0, seconds=10.0)


def measure(load: Load, seats: Sequence[Seat], say: Say) -> list[Figure]:
    """Every figure of turns; ``seats`` are at least as many as the largest level."""
    return asyncio.run(_measured(load, seats, say))


async def _measured(load: Load, seats: Sequence[Seat], say: Say) -> list[Figure]:
    figures: list[Figure] = []
    gc.collect()  # what making the participants has left behind is not for the middle of a turn
    with serving("platform") as platform, serving("bare") as bare:
        for server in (platform, bare):  # first turns load code
            async with open_chats(server.origin, seats[:2]) as chats:
                await asyncio.gather(*(chat.turn("Hello.") for chat in chats))
        for level in load.levels:
            say(f"turns: {level} chats")
            ours = await _level(platform, seats[:level], load)
            theirs = await _level(bare, seats[:level], load)
            judged = level == load.judged
            figures += _figures(f"turn, {level} chats", ours, theirs, load, judged=judged)
        say(f"turns: {load.at_once} chats without a pause")
        figures += await _at_once(platform, bare, seats[: load.at_once], load)
    return figures


async def _level(server: Server, seats: Sequence[Seat], load: Load) -> list[Turn]:
    """One chat alone speaks as soon as it may, or it would say too little to measure."""
    every = load.every if len(seats) > 1 else 0.0
    async with open_chats(server.origin, seats) as chats:
        return await converse(chats, every=every, seconds=load.seconds)


async def _at_once(
    platform: Server, bare: Server, seats: Sequence[Seat], load: Load
) -> list[Figure]:
    name = f"turn, {len(seats)} chats without a pause"
    ours, our_rate = await _saturated(platform, seats, load)
    theirs, their_rate = await _saturated(bare, seats, load)
    return [
        *_figures(name, ours, theirs, load, judged=False),
        Figure(name=f"{name}, throughput", value=our_rate, unit="turns/s"),
        Figure(name=f"{name}, bare throughput", value=their_rate, unit="turns/s"),
    ]


async def _saturated(server: Server, seats: Sequence[Seat], load: Load) -> tuple[list[Turn], float]:
    loop = asyncio.get_running_loop()
    async with open_chats(server.origin, seats) as chats:
        started = loop.time()
        turns = await converse(chats, every=0.0, seconds=load.seconds)
        return turns, len(turns) / (loop.time() - started)


def _figures(
    name: str, ours: Sequence[Turn], theirs: Sequence[Turn], load: Load, *, judged: bool
) -> list[Figure]:
    figures = []
    for what, read in MEASURED.items():
        for percent in PERCENTILES:
            our, their = (
                percentile([read(turn) * 1000 for turn in turns], percent)
                for turns in (ours, theirs)
            )
            label = f"{name}, {what} p{percent}"
            ack_goal = load.ack_goal if judged and (what, percent) == ("ack", 95) else None
            token_goal = load.first_token_goal if judged and what == "first token" else None
            figures += [
                Figure(name=label, value=our, unit="ms", goal=ack_goal),
                Figure(name=f"{label}, bare", value=their, unit="ms"),
                ratio(f"{label} ÷ bare", our, their, goal=token_goal),
            ]
    return figures
