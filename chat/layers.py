"""The doorbell's wire within one process."""

from __future__ import annotations

import time
from typing import Any

from channels.layers import InMemoryChannelLayer

LOOK_EVERY = 5.0  # seconds; messages expire after 60


class OneProcessLayer(InMemoryChannelLayer):
    """Channels' own in-memory layer, but it looks for what has expired once in a while only.

    Channels looks through every channel and group three times for each frame, so every chat that
    is open makes each token of every other chat dearer.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._looked = 0.0

    def _clean_expired(self) -> None:
        now = time.monotonic()
        if now - self._looked >= LOOK_EVERY:
            self._looked = now
            super()._clean_expired()
