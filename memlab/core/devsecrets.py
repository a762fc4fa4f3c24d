"""Secrets of a development checkout: made once, kept in `.data/`, readable by their owner only."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from cryptography.fernet import Fernet


@dataclass(frozen=True, slots=True)
class DevelopmentSecrets:
    django: str
    provider_keys: str


def development_secrets(folder: Path) -> DevelopmentSecrets:
    """Read or make ``folder/secrets.json``. Two processes that start at once agree on one."""
    path = folder / "secrets.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = DevelopmentSecrets(secrets.token_urlsafe(50), Fernet.generate_key().decode())
        draft = folder / f"secrets.{os.getpid()}.tmp"
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(asdict(made)))
        with suppress(FileExistsError):  # another process was first: then its file counts
            os.link(draft, path)
        draft.unlink()
    return DevelopmentSecrets(**json.loads(path.read_text()))
