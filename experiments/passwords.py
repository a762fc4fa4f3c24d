"""Passwords that staff get from staff."""

from __future__ import annotations

import secrets


def one_time_password() -> str:
    """Sixteen characters without look-alikes: shown once, then only its hash is left."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _n in range(4)) for _group in range(4))
