from questionnaires.models.instrument import Instrument, InstrumentVersion, Item
from questionnaires.models.placement import Placement
from questionnaires.models.response import Answer, Response, Score

__all__ = ["Answer", "Instrument", "InstrumentVersion", "Item", "Placement", "Response", "Score"]
