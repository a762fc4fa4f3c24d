"""The back office of conversations: messages, replies, receipts, transcripts and their export."""

from chat.admin import export, rows, transcript

__all__ = ["export", "rows", "transcript"]
