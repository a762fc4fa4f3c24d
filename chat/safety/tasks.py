"""What the task cluster runs for participants' safety. Ids only; each is safe to run twice."""

from __future__ import annotations

import asyncio
from uuid import UUID

from chat.safety import alerts, screening
from experiments.doors import DoorKeeper
from memlab.core.clock import wall_now


def send_alert(lab_id: int, event: str) -> str | None:
    """Tell the safety contact of an adverse event, at most once."""
    return alerts.send(lab_id, UUID(event), wall=wall_now())


def screen_message(lab_id: int, message: str) -> bool:
    """Have the extraction model look at a message."""
    return asyncio.run(_screen(lab_id, UUID(message)))


async def _screen(lab_id: int, message: UUID) -> bool:
    keeper = DoorKeeper()
    try:
        return await screening.screen(lab_id, message, keeper, wall=wall_now())
    finally:
        await keeper.aclose()
