"""Which provider, which address, which key: checked before anything is sent."""

from __future__ import annotations

import ssl
from collections.abc import Collection
from functools import lru_cache

import certifi

DASHSCOPE_DEFAULT_URL = "https://dashscope.aliyuncs.com/api/v1"
# The provider's own addresses; anything else must be on the installation's list.
DASHSCOPE_URLS = frozenset(
    {
        DASHSCOPE_DEFAULT_URL,
        "https://dashscope-intl.aliyuncs.com/api/v1",
        "https://dashscope-us.aliyuncs.com/api/v1",
        "https://cn-hongkong.dashscope.aliyuncs.com/api/v1",
    }
)


class ProviderConfigurationError(Exception):
    """A model can't be opened as configured: what is wrong, where, and the remedy."""

    def __init__(self, *, what: str, where: str, remedy: str) -> None:
        super().__init__(f"{what} ({where}). {remedy}")
        self.what = what
        self.where = where
        self.remedy = remedy


def required(value: str | None, *, what: str, where: str, remedy: str) -> str:
    """The value, or `ProviderConfigurationError` when it is empty."""
    if not value or not value.strip():
        raise ProviderConfigurationError(what=what, where=where, remedy=remedy)
    return value.strip()


def allowed_url(base_url: str, allowed: Collection[str], *, where: str) -> str:
    """`base_url` without its last slash, or `ProviderConfigurationError`.

    Staff of a lab write base URLs, and the server calls them: only addresses that
    the installation lists are called, so that nobody reaches its inner network.
    """
    plain = base_url.strip().rstrip("/")
    if plain not in {entry.strip().rstrip("/") for entry in allowed}:
        raise ProviderConfigurationError(
            what=f"the base URL {plain} is not allowed here",
            where=where,
            remedy="Choose one from the installation's list, or have its operator add this one.",
        )
    return plain


@lru_cache(maxsize=1)
def shared_ssl_context() -> ssl.SSLContext:
    """One TLS context for all clients: loading the certificates costs more than a request."""
    return ssl.create_default_context(cafile=certifi.where())
