"""The port that the web server listens on: chosen, looked at, and asked for its health."""

import http.client
import socket

import psutil

from memlab.launch.errors import LaunchError

HOST = "127.0.0.1"
DEFAULT_PORT = 8000


def chosen_port(text: str | None) -> int:
    """The port in MEMLAB_PORT's ``text``, 8000 where it is unset."""
    if not text:
        return DEFAULT_PORT
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise LaunchError(
            f"MEMLAB_PORT is {text!r}, which is no port", remedy="Give a number from 1 to 65535."
        )
    return int(text)


def require_free(port: int) -> None:
    """Raise ``LaunchError`` with the holder's name when ``port`` is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except PermissionError:
            raise LaunchError(
                f"port {port} is reserved for the administrator",
                remedy=f"Choose another: MEMLAB_PORT={DEFAULT_PORT} make run",
            ) from None
        except OSError:
            raise LaunchError(
                f"port {port} is taken{_holder(port)}",
                remedy=f"End that program, or choose another port: "
                f"MEMLAB_PORT={port + 1 if port < 65535 else DEFAULT_PORT} make run",
            ) from None


def health(port: int) -> str | None:
    """None when the server at ``port`` is well, else what it answered or why it didn't."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/health/")
        answer = connection.getresponse()
        return None if answer.status == 200 else f"/health/ answers {answer.status}"
    except OSError as error:
        return f"/health/ doesn't answer: {error}"
    finally:
        connection.close()


def _holder(port: int) -> str:
    """`` by process 12 (python …)``, or nothing where the system doesn't tell."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.laddr and connection.laddr.port == port and connection.pid:
                command = " ".join(psutil.Process(connection.pid).cmdline())
                return f" by process {connection.pid} ({command[:120]})"
    except psutil.Error:
        return ""
    return ""
