"""What a participant could tell their condition by: bytes, headers, frames, and time."""
