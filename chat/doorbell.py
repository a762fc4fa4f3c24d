"""Telling every open tab of a session. Only a doorbell: what counts is in the database."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from uuid import UUID

from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from chat.frames import written

logger = logging.getLogger(__name__)

PATIENCE = 2.0  # seconds for one frame; a layer that is away must not hold up a reply


def group_of(session: UUID) -> str:
    return f"session.{session.hex}"


async def ring(session: UUID, *frames: dict[str, Any]) -> None:
    """Send frames to the session's tabs. A lost one costs a client a second, never a message."""
    layer = get_channel_layer()
    for frame in frames:
        # Written out once for all tabs; the layers copy what they carry, dictionaries deeply.
        event = {
            "type": "chat.frame",
            "text": written(frame),
            "last": frame["type"] == "stage_over",
        }
        try:
            async with asyncio.timeout(PATIENCE):
                await layer.group_send(group_of(session), event)
        except (ChannelFull, OSError, RedisError) as error:
            logger.warning("doorbell of session %s failed: %s", session, type(error).__name__)
