"""What the task cluster runs. Arguments are ids only; each task is safe to run twice."""

from __future__ import annotations

import asyncio
from uuid import UUID

from chat import steps
from chat.generation import make_reply
from chat.makers import close_due_session
from experiments.doors import DoorKeeper


def run_steps(lab_id: int, participant: str) -> int:
    """Run a participant's pending memory steps; the number done."""
    return asyncio.run(_run_steps(lab_id, UUID(participant)))


def take_over_reply(lab_id: int, reply: str) -> bool:
    """Make a reply whose maker died, where no web process did."""
    return asyncio.run(_take_over(lab_id, UUID(reply)))


def close_session(lab_id: int, session: str) -> None:
    """Close a session whose time has come."""
    asyncio.run(close_due_session(lab_id, UUID(session)))


async def _run_steps(lab_id: int, participant: UUID) -> int:
    keeper = DoorKeeper()
    try:
        return await steps.run_steps(lab_id, participant, keeper)
    finally:
        await keeper.aclose()


async def _take_over(lab_id: int, reply: UUID) -> bool:
    keeper = DoorKeeper()
    try:
        return await make_reply(lab_id, reply, keeper)
    finally:
        await keeper.aclose()
