"""The back office of conversations: messages, replies, receipts, transcripts and their export, and
the work of memories."""

from chat.admin import export, rows, transcript, work

__all__ = ["export", "rows", "transcript", "work"]
