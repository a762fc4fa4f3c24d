"""Token buckets: how fast a participant, and a lab, may send messages through this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled: float


class TokenBuckets:
    """One bucket a key: ``size`` tokens at most, refilled by ``rate`` tokens a second."""

    def __init__(
        self, size: float, rate: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.size, self.rate, self._clock = size, rate, clock
        self._buckets: dict[Hashable, _Bucket] = {}

    def take(self, key: Hashable) -> bool:
        """Take a token; False if the bucket is empty."""
        now = self._clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            self._forget_full(now)
            bucket = self._buckets[key] = _Bucket(self.size, now)
        bucket.tokens = min(self.size, bucket.tokens + (now - bucket.filled) * self.rate)
        bucket.filled = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def _forget_full(self, now: float) -> None:
        """Drop buckets that have filled up again, once there are many: they say nothing."""
        if len(self._buckets) >= 10_000:
            longest = self.size / self.rate
            self._buckets = {
                key: bucket
                for key, bucket in self._buckets.items()
                if now - bucket.filled < longest
            }
