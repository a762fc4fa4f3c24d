"""The one door to a study's webhook: a small signed JSON, to a public address, at most once.

The address is looked up once, every answer is checked, and the connection goes to the very address
that was checked, so that a name can't lead elsewhere in between. No redirect is followed.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import socket
import time
from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

import httpx
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from memlab.core.tenancy.scope import active_lab_id

TIMEOUT = httpx.Timeout(10.0, connect=5.0)
TRY_AGAIN = (429, 503)
# What a gateway translates into IPv4 (RFC 6052), and all unicast that IANA has given out of IPv6.
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
GIVEN_OUT = ipaddress.IPv6Network("2000::/3")


class HookTrouble(StrEnum):
    TEMPORARY = "temporary"  # certainly not received; trying again may help
    PERMANENT = "permanent"  # refused, and trying again won't help
    UNKNOWN = "unknown"  # the other side may have acted on it


class HookFailure(Exception):
    """``kind`` says what may be done, ``code`` why; never the address."""

    def __init__(self, kind: HookTrouble, code: str) -> None:
        super().__init__(f"{kind}: {code}")
        self.kind = kind
        self.code = code


def check_url(url: str) -> None:
    """Raises ValidationError for an address that a webhook must not have."""
    parts = urlsplit(url)
    try:
        _port = parts.port
    except ValueError:
        raise ValidationError(_("The webhook's port must be a number up to 65535.")) from None
    if _listed(parts):
        return
    if parts.scheme != "https":
        raise ValidationError(_("The webhook must begin with https://."))
    if not parts.hostname or parts.username or parts.password:
        raise ValidationError(
            _("The webhook must name a host, and no user or password: sign-ins belong elsewhere.")
        )
    try:
        ipaddress.ip_address(parts.hostname)
    except ValueError:
        return  # a name: where it leads is checked at every call
    if not _is_public(parts.hostname):
        raise ValidationError(_("The webhook must not lead into a private network."))


def signature(secret: str, body: bytes, *, at: int) -> str:
    """HMAC-SHA256 over ``<unix time>.<body>``, as the receiver computes it again."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def post(url: str, *, secret: str, payload: Mapping[str, object]) -> None:
    """Deliver ``payload``, never inside a lab's scope. Raises HookFailure."""
    if active_lab_id() is not None:
        raise RuntimeError("A webhook is never called inside a transaction: leave the lab_scope.")
    if not secret:
        raise HookFailure(HookTrouble.PERMANENT, "no_secret")
    parts = urlsplit(url)
    address = _address(parts)
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    at = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "Host": parts.netloc,
        "Memlab-Signature": f"t={at},v1={signature(secret, body, at=at)}",
    }
    pinned = parts._replace(netloc=_netloc(address, parts.port)).geturl()
    try:
        with httpx.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=False) as client:
            request = client.build_request(
                "POST",
                pinned,
                content=body,
                headers=headers,
                extensions={"sni_hostname": parts.hostname},
            )
            answer = client.send(request, stream=True)
            answer.close()  # what it says beside its status is nothing to us, however long it is
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise HookFailure(HookTrouble.TEMPORARY, f"no_server_{type(error).__name__}") from None
    except httpx.HTTPError as error:
        raise HookFailure(HookTrouble.UNKNOWN, f"cut_{type(error).__name__}") from None
    _judge(answer.status_code)


def _judge(status: int) -> None:
    """2xx is received. A redirect or 4xx is a refusal; after a 5xx the other side may have acted,
    but for those that say that they didn't."""
    if 200 <= status < 300:
        return
    if status in TRY_AGAIN:
        raise HookFailure(HookTrouble.TEMPORARY, f"answered_{status}")
    kind = HookTrouble.UNKNOWN if status >= 500 else HookTrouble.PERMANENT
    raise HookFailure(kind, f"answered_{status}")


def _address(parts: SplitResult) -> str:
    """The address to connect to: every one that the name leads to must be public."""
    host = parts.hostname or ""
    if not _listed(parts) and parts.scheme != "https":
        raise HookFailure(HookTrouble.PERMANENT, "not_https")
    try:
        found = socket.getaddrinfo(host, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise HookFailure(HookTrouble.TEMPORARY, "no_such_host") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not _listed(parts) and not all(_is_public(address) for address in addresses):
        raise HookFailure(HookTrouble.PERMANENT, "private_network")
    return addresses[0]


def _is_public(address: str) -> bool:
    """An IPv6 address that stands for one of IPv4 is judged as that one."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        carried = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in NAT64:
            carried = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if carried is None and parsed not in GIVEN_OUT:
            return False
        parsed = carried or parsed
    return parsed.is_global and not parsed.is_multicast


def _listed(parts: SplitResult) -> bool:
    """On the installation's list of hosts (MEMLAB_WEBHOOK_HOSTS, host or host:port)."""
    hosts: list[str] = settings.WEBHOOK_HOSTS
    return bool(parts.hostname) and (parts.netloc in hosts or parts.hostname in hosts)


def _netloc(address: str, port: int | None) -> str:
    host = f"[{address}]" if ":" in address else address
    return host if port is None else f"{host}:{port}"
