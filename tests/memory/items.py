"""Retained items for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.models import Participant
from memory.models import RetainedItem
from memory.models.retained import Worded, item_id
from memory.models.retention_rule import Retention
from tests.memory.dialogue import START, identified

EMBEDDER = "scripted"
DAYS = Retention()


def item(
    participant: Participant,
    text: str,
    *,
    importance: float = 0.9,
    keywords: Sequence[str] = (),
    vector: Sequence[float] = (1.0, 0.0),
    retention: Retention = DAYS,
    **changes: Any,
) -> RetainedItem:
    """An item that was said at START, in the first turn, and isn't stored yet."""
    message = identified(f"message of {text}")
    row = RetainedItem(
        **{
            "id": item_id(participant=participant.public_id, message=message, text=text),
            "lab_id": participant.lab_id,
            "participant": participant,
            "session_id": identified("session"),
            "session_number": 1,
            "stage_key": "T1",
            "importance": importance,
            "anchor": START,
            "anchor_turn": 1,
            "encoded_at": START,
            "embedder": EMBEDDER,
            "message_ids": [message],
            **changes,
        }
    )
    row.word(Worded(text=text, keywords=keywords, vector=np.array(vector, dtype=np.float32)))
    row.set_leaving(retention)
    return row
