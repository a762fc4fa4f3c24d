"""The back office of memories: read-only, and only for whoever is unblinded."""

from memory.admin import rows

__all__ = ["rows"]
