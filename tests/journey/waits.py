"""Waiting until one unit of work stands in another one's way."""

from __future__ import annotations

import time

from django.db import connection


def somebody_waits_for_us() -> bool:
    """Whether within five seconds somebody waits for a lock that this connection holds."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks"
                " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            if cursor.fetchone()[0]:
                return True
        time.sleep(0.01)
    return False
