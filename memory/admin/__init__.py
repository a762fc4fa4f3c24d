"""The back office of memories: only for whoever is unblinded."""

from memory.admin import beliefs, compressible, feasibility, homeostatic, retained, rows

__all__ = ["beliefs", "compressible", "feasibility", "homeostatic", "retained", "rows"]
