"""The one place that reads the wall clock for study purposes; everything below gets ``now``."""

from datetime import datetime

from django.utils import timezone


def wall_now() -> datetime:
    """Wall time, aware, UTC."""
    return timezone.now()
