"""What the environment tells an installation: read once, checked, with a clear word."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit


class SettingError(RuntimeError):
    """An environment variable can't be used; says which, and what to set."""


def text(name: str, default: str | None = None) -> str:
    """A variable's value; SettingError if it is missing and has no default."""
    value = os.environ.get(name, default)
    if value is None:
        raise SettingError(f"{name} is not set. Set it in the environment of every process.")
    return value


def listed(name: str, default: str = "") -> list[str]:
    """A comma-separated variable as a list without blanks."""
    return [item.strip() for item in text(name, default).split(",") if item.strip()]


def switched(name: str, *, default: bool = False) -> bool:
    value = text(name, "true" if default else "false").lower()
    if value not in ("true", "false", "1", "0", "yes", "no"):
        raise SettingError(f"{name} must be true or false, not {value!r}.")
    return value in ("true", "1", "yes")


def whole(name: str, default: int) -> int:
    value = text(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise SettingError(f"{name} must be a whole number, not {value!r}.") from None


def database(url: str) -> dict[str, object]:
    """Django's DATABASES entry for a ``postgres://user:password@host:port/name`` URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql") or not parts.path.strip("/"):
        raise SettingError(
            f"DATABASE_URL must look like postgres://user:password@host:5432/name, not {url!r}."
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """Where e-mail is handed over; without a ``backend`` none is sent."""

    backend: str
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    starttls: bool = False
    tls: bool = False


def mail(url: str) -> MailServer:
    """The mail server of ``smtp://``, ``smtp+tls://`` (STARTTLS) or ``smtp+ssl://`` with
    ``user:password@host:port``; of ``console:``, which prints; or none of an empty text."""
    if url in ("", "console:"):
        return MailServer(backend=url and "django.core.mail.backends.console.EmailBackend")
    parts = urlsplit(url)
    ports = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}
    if parts.scheme not in ports or not parts.hostname:
        # Without the value: there may be a password in it.
        raise SettingError(
            "MEMLAB_EMAIL_URL must look like smtp+tls://user:password@host:587 "
            "(or smtp://, smtp+ssl://, or console:)."
        )
    return MailServer(
        backend="django.core.mail.backends.smtp.EmailBackend",
        host=parts.hostname,
        port=parts.port or ports[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp+tls",
        tls=parts.scheme == "smtp+ssl",
    )
