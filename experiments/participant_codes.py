"""Codes that people note down and read out. Without vowels and look-alikes: never a word."""

from __future__ import annotations

import secrets

ALPHABET = "23456789BCDFGHJKMNPQRSTVWXZ"


def new_code(characters: int = 7) -> str:
    """A random code; a participant is known by one."""
    return "".join(secrets.choice(ALPHABET) for _ in range(characters))
