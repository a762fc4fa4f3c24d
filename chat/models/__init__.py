from chat.models.adverse_event import AdverseEvent
from chat.models.message import Message
from chat.models.model_screening import ModelScreening, ScreeningState
from chat.models.receipt import Receipt
from chat.models.reply import Reply, ReplyState
from chat.models.writing import Writing

__all__ = [
    "AdverseEvent",
    "Message",
    "ModelScreening",
    "Receipt",
    "Reply",
    "ReplyState",
    "ScreeningState",
    "Writing",
]
