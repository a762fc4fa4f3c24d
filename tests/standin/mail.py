"""A mail server on the loopback that takes, refuses or drops what it is told to."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast

#: What the server does with a mail: an answer to the step named first, or a cut connection.
TAKE, CUT_AFTER_DATA, CUT_AT_ONCE = "take", "cut after data", "cut at once"
REFUSE_FOR_NOW, REFUSE, NO_SUCH_USER = "451 later", "554 no", "550 unknown"


class MailServer(socketserver.ThreadingTCPServer):
    """Keeps what it took in ``taken``; ``behaviour`` is looked up anew for each connection."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.behaviour = TAKE
        self.delay = 0.0  # seconds between having a mail and saying so
        self.taken: list[EmailMessage] = []
        self.arrived = 0

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server = cast(MailServer, self.server)
        if server.behaviour == CUT_AT_ONCE:
            return
        self._answer("220 standin")
        while line := self.rfile.readline():
            word = line.split(None, 1)[0].upper() if line.strip() else b""
            if word == b"RCPT" and server.behaviour == NO_SUCH_USER:
                self._answer(NO_SUCH_USER)
            elif word == b"DATA":
                self._answer("354 go on")
                if not self._take(server):
                    return
            elif word == b"QUIT":
                self._answer("221 bye")
                return
            else:
                self._answer("250 fine")

    def _take(self, server: MailServer) -> bool:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                return False  # the sender is gone before the end: no server keeps half a mail
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        server.arrived += 1
        time.sleep(server.delay)
        if server.behaviour == CUT_AFTER_DATA:
            return False
        if server.behaviour in (REFUSE, REFUSE_FOR_NOW):
            self._answer(server.behaviour)
            return True
        parsed: Any = message_from_bytes(b"".join(lines), policy=policy.default)
        server.taken.append(parsed)
        self._answer("250 taken")
        return True

    def _answer(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """A running server; Django is pointed at it by ``settings_for``."""
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def settings_for(server: MailServer) -> dict[str, Any]:
    """Django's settings that send everything to ``server``."""
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": "127.0.0.1",
        "EMAIL_PORT": server.port,
        "EMAIL_TIMEOUT": 5,
    }
