"""How often a turn goes to the database."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from django.db.backends.signals import connection_created

from chat import claims
from chat.conversation import SessionRef
from chat.generation import make_reply
from experiments.access import COOKIE, recognise
from experiments.doors import DoorKeeper
from memlab.core.clock import wall_now
from memlab.core.tenancy.scope import SETTING
from memlab.core.work import unit
from memlab.research.bench.clients import Seat
from memlab.research.bench.doors import costless_doors
from memlab.research.bench.report import Figure


def measure(seat: Seat, say: Callable[[str], None]) -> list[Figure]:
    """Statements and lab scopes (a transaction each) of one turn, made in this process."""
    say("turns: counting statements")
    saying, making = asyncio.run(_counted(seat))
    return [
        Figure(name=f"{what} of a turn{part}", value=count[what], unit="")
        for part, count in ((" until its ack", saying), (" from ack to stored reply", making))
        for what in ("statements", "lab scopes")
    ]


async def _counted(seat: Seat) -> tuple[Counter[str], Counter[str]]:
    owner = recognise({COOKIE: seat.cookie.removeprefix(f"{COOKIE}=")})
    assert owner is not None
    reference = SessionRef.of(owner, seat.session)
    keeper = DoorKeeper(costless_doors)
    with _counting() as seen:
        await _turn(reference, keeper, seen)  # opens connections, loads code
        return await _turn(reference, keeper, seen)


async def _turn(
    reference: SessionRef, keeper: DoorKeeper, seen: Counter[str]
) -> tuple[Counter[str], Counter[str]]:
    seen.clear()
    said, claim = await unit(
        claims.say, reference, client_id=uuid4(), text="And then?", wall=wall_now()
    )
    saying = seen.copy()
    seen.clear()
    assert await make_reply(reference.lab_id, said.reply, keeper, _nobody, claim=claim)
    return saying, seen.copy()


async def _nobody(session: UUID, *frames: dict[str, Any]) -> None:
    """No tab is open."""


@contextmanager
def _counting() -> Iterator[Counter[str]]:
    """Counts what every connection that is made meanwhile executes."""
    seen: Counter[str] = Counter()

    def count(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        seen["statements"] += 1
        if "set_config" in sql and params and params[0] == SETTING:
            seen["lab scopes"] += 1
        return execute(sql, params, *rest)

    def watch(connection: Any, **kwargs: Any) -> None:
        if count not in connection.execute_wrappers:  # it may have connected before
            connection.execute_wrappers.append(count)

    connection_created.connect(watch)
    try:
        yield seen
    finally:
        connection_created.disconnect(watch)
