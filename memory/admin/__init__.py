"""The back office of memories: read-only, and only for whoever is unblinded."""

from memory.admin import feasibility, retained, rows

__all__ = ["feasibility", "retained", "rows"]
