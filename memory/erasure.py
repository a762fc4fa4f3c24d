"""What memories keep about a participant: rows, embeddings and events, all of them of an arm."""

from __future__ import annotations

from memlab.core.personal import Personal, Rows

KINDS = (
    "MemoryEvent",
    "ConsolidationRun",
    "Episode",
    "Trait",
    "Compressible",
    "Belief",
    "SessionLog",
    "BinnedItem",
    "LoggedTurn",
    "SleepRun",
    "RegulatedState",
    "RetainedItem",
)

PERSONAL = Personal(rows=tuple(Rows(model=f"memory.{kind}", evidence=True) for kind in KINDS))
