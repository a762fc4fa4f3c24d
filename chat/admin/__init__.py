"""The back office of conversations: messages, replies, receipts, transcripts and their export, and
memories with their work; adverse events and pauses."""

from chat.admin import adverse_event, export, memory_view, pauses, rows, transcript, work

__all__ = ["adverse_event", "export", "memory_view", "pauses", "rows", "transcript", "work"]
