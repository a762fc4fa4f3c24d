"""The back office of conversations: messages, replies, receipts, transcripts and their export, and
memories with their work."""

from chat.admin import export, memory_view, rows, transcript, work

__all__ = ["export", "memory_view", "rows", "transcript", "work"]
