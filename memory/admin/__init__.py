"""The back office of memories: read-only, and only for whoever is unblinded."""

from memory.admin import beliefs, feasibility, retained, rows

__all__ = ["beliefs", "feasibility", "retained", "rows"]
