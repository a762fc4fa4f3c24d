from memory.models.belief import Belief
from memory.models.binned import BinnedItem
from memory.models.compressible import Compressible
from memory.models.episode import Episode
from memory.models.event import MemoryEvent
from memory.models.profile import Trait
from memory.models.regulated import RegulatedState
from memory.models.retained import RetainedItem
from memory.models.run import ConsolidationRun
from memory.models.session_log import SessionLog
from memory.models.sleep import SleepRun
from memory.models.turn_log import LoggedTurn

__all__ = [
    "Belief",
    "BinnedItem",
    "Compressible",
    "ConsolidationRun",
    "Episode",
    "LoggedTurn",
    "MemoryEvent",
    "RegulatedState",
    "RetainedItem",
    "SessionLog",
    "SleepRun",
    "Trait",
]
