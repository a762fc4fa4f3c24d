"""Telling a session's tabs from code that has no event loop, such as the back office."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import transaction
from django.urls import reverse

from chat import doorbell


def after_commit(session: UUID, frames: tuple[dict[str, Any], ...], *, over: bool = False) -> None:
    """Ring the session's tabs once this transaction is committed. Only a doorbell: a tab that
    doesn't hear it asks again by itself, as it does while it is paused."""
    if over:
        frames = (
            *frames,
            {"type": "stage_over", "next_url": reverse("journey:after", args=[session])},
        )
    if frames:
        transaction.on_commit(lambda: async_to_sync(doorbell.ring)(session, *frames))
