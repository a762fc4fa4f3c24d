"""What is stored so that only this installation can read it, or recognise it.

Sealed texts are encrypted with the first of MEMLAB_SECRET_KEYS, and every one of them opens. A
digest recognises a text without holding it: it is keyed with a secret too, so that a list of
addresses can't be tried against a stolen table.
"""

from __future__ import annotations

import hashlib
import hmac

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class Unreadable(ImproperlyConfigured):
    """None of the installation's secrets opens what was sealed."""

    def __init__(self) -> None:
        super().__init__(
            "What was sealed can't be decrypted with the secrets in MEMLAB_SECRET_KEYS. "
            "Put the old secret back behind the new one."
        )


def seal(text: str) -> bytes:
    """Encrypt with the newest secret."""
    return _cipher().encrypt(text.encode())


def unseal(sealed: bytes | memoryview[int]) -> str:
    """The text again. Raises Unreadable if no secret fits any more."""
    try:
        return _cipher().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise Unreadable from None


def sealed_anew(sealed: bytes | memoryview[int]) -> bytes:
    """The same text, encrypted with the newest secret. Raises Unreadable."""
    try:
        return _cipher().rotate(bytes(sealed))
    except InvalidToken:
        raise Unreadable from None


def digests(*parts: object) -> tuple[str, ...]:
    """Keyed digests (HMAC-SHA256) of ``parts``: one for every secret, the newest first.

    The first is to be stored. To recognise what was stored under an older secret, compare with all.
    """
    message = "\x1f".join(str(part) for part in parts).encode()
    return tuple(
        hmac.new(_digest_key(secret), message, hashlib.sha256).hexdigest() for secret in _secrets()
    )


def _digest_key(secret: str) -> bytes:
    """A key of its own, so that a digest tells nothing about what the secret encrypts."""
    return hmac.new(secret.encode(), b"memlab.digest", hashlib.sha256).digest()


def _cipher() -> MultiFernet:
    return MultiFernet([Fernet(secret) for secret in _secrets()])


def _secrets() -> list[str]:
    secrets: list[str] = settings.PROVIDER_KEY_SECRETS
    if not secrets:
        raise ImproperlyConfigured(
            "No secret to encrypt provider keys and identifiers with. Set MEMLAB_SECRET_KEYS to "
            "one or more comma-separated Fernet keys, the newest first."
        )
    return secrets
