"""The back office of memories: read-only, and only for whoever is unblinded."""

from memory.admin import feasibility, rows

__all__ = ["feasibility", "rows"]
