"""The embedded PostgreSQL of a development machine; production sets DATABASE_URL instead."""

import os
from pathlib import Path

from memlab.core.devdb.database import DevelopmentDatabase
from memlab.core.devdb.errors import DatabaseLaunchError

__all__ = [
    "DatabaseLaunchError",
    "DevelopmentDatabase",
    "development_database",
    "development_url",
]

_CHECKOUT = Path(__file__).resolve().parents[3]


def development_database() -> DevelopmentDatabase:
    """The database of this checkout: ``.data/pg``, or below MEMLAB_DATA_DIR where that is set."""
    data = Path(os.environ.get("MEMLAB_DATA_DIR") or _CHECKOUT / ".data")
    return DevelopmentDatabase(data / "pg")


def development_url() -> str:
    """The remembered URL of this checkout's database; starts nothing.

    Raises ``DatabaseLaunchError`` when it was never started.
    """
    return development_database().url()
