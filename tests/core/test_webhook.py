"""The door to webhooks: where it leads, what it signs, and what a failure means."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from memlab.core import webhook
from memlab.core.webhook import HookFailure


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((dict(self.headers), body))
        if server.status:
            self.send_response(server.status)
            self.send_header("Location", "http://169.254.169.254/")
            self.send_header("Content-Length", str(server.announced))
            self.end_headers()
            server.heard.wait()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hook(status: int, *, announced: int = 0) -> Iterator[Any]:
    """A receiver that answers ``status``, and announces as many bytes that never come."""
    server: Any = HTTPServer(("127.0.0.1", 0), _Hook)
    server.got, server.status, server.announced = [], status, announced
    server.heard = threading.Event()
    if not announced:
        server.heard.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.heard.set()
        server.shutdown()
        thread.join()
        server.server_close()


def call(server: Any, settings: Any) -> None:
    host = f"localhost:{server.server_address[1]}"
    settings.WEBHOOK_HOSTS = [host]
    webhook.post(f"http://{host}/in?x=1", secret="s", payload={"stage": "T1", "code": "学"})


def test_what_is_sent_is_signed(settings: Any) -> None:
    with hook(204) as server:
        call(server, settings)
    ((headers, body),) = server.got
    assert json.loads(body) == {"stage": "T1", "code": "学"}
    stamp, digest = headers["Memlab-Signature"].split(",")
    assert digest == "v1=" + webhook.signature("s", body, at=int(stamp.removeprefix("t=")))
    assert headers["Host"].startswith("localhost:")
    assert webhook.signature("s", b"{}", at=0) == (
        "e79b1f685c78e46b2e3f94b5fbf00964e3e3d5ed4d1e270dcf671ac4cd2233fa"
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, "permanent"),  # followed nowhere
        (404, "permanent"),
        (429, "temporary"),
        (503, "temporary"),
        (500, "unknown"),
        (0, "unknown"),  # taken, and no answer
    ],
)
def test_what_an_answer_means(settings: Any, status: int, kind: str) -> None:
    with hook(status) as server, pytest.raises(HookFailure) as failure:
        call(server, settings)
    assert failure.value.kind == kind
    assert len(server.got) == 1


def test_nobody_waits_for_what_an_answer_says_beside_its_status(settings: Any) -> None:
    with hook(200, announced=10**12) as server:
        call(server, settings)
    assert len(server.got) == 1


def test_where_nobody_listens_nothing_was_sent(settings: Any) -> None:
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    with pytest.raises(HookFailure) as failure:
        webhook.post("http://127.0.0.1:9/", secret="s", payload={})
    assert failure.value.kind == "temporary"


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/", "https://10.1.2.3/", "https://169.254.169.254/latest", "https://[::1]/",
        "https://[::ffff:10.0.0.1]/", "https://localhost/", "https://[2002:7f00:1::]/",
        "https://0.0.0.0/", "http://example.org/", "https://[64:ff9b::a00:1]/",
        "https://[64:ff9b:1::1]/", "https://[fec0::1]/", "https://[::10.0.0.1]/",
    ],
)  # fmt: skip
def test_a_private_network_is_never_reached(settings: Any, url: str) -> None:
    settings.WEBHOOK_HOSTS = []
    with pytest.raises(HookFailure) as failure:
        webhook.post(url, secret="s", payload={})
    assert failure.value.kind == "permanent"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/", "https://user:pw@example.org/", "https://192.168.0.1/x",
        "https://example.org:99999/", "https://[64:ff9b::a00:1]/",
    ],
)  # fmt: skip
def test_staff_are_told_of_a_bad_address(settings: Any, url: str) -> None:
    settings.WEBHOOK_HOSTS = []
    with pytest.raises(ValidationError):
        webhook.check_url(url)
    webhook.check_url("https://example.org/hook")


def test_a_gateway_to_public_addresses_is_public() -> None:
    """Where a network has IPv6 alone, every name of IPv4 leads through one (DNS64)."""
    assert webhook._is_public("64:ff9b::8.8.8.8")
    assert webhook._is_public("2606:4700:4700::1111")
