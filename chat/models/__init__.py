from chat.models.message import Message
from chat.models.receipt import Receipt
from chat.models.reply import Reply, ReplyState

__all__ = ["Message", "Receipt", "Reply", "ReplyState"]
