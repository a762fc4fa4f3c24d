from memory.models.belief import Belief
from memory.models.compressible import Compressible
from memory.models.episode import Episode
from memory.models.event import MemoryEvent
from memory.models.profile import Trait
from memory.models.retained import RetainedItem
from memory.models.run import ConsolidationRun
from memory.models.session_log import SessionLog

__all__ = [
    "Belief",
    "Compressible",
    "ConsolidationRun",
    "Episode",
    "MemoryEvent",
    "RetainedItem",
    "SessionLog",
    "Trait",
]
