"""E-mail against a server on the loopback: what was sent, and what each failure means."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import override_settings

from experiments.models import Lab
from memlab.core import env
from memlab.core.mail import Attachment, MailFailure, send
from memlab.core.tenancy import lab_scope
from tests.standin import mail
from tests.standin.mail import MailServer

pytestmark = pytest.mark.usefixtures("known_here")


@pytest.fixture
def known_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a name server would look for its own name for seconds."""
    monkeypatch.setattr("socket.getfqdn", lambda name="": "localhost")


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail.mail_server() as server, override_settings(**mail.settings_for(server)):
        yield server


def failure(to: str = "contact@example.org") -> tuple[str, str]:
    with pytest.raises(MailFailure) as raised:
        send(to, "Subject", "Text")
    return str(raised.value.kind), raised.value.code


def test_mail_arrives_with_its_attachment(server: MailServer) -> None:
    send(
        "contact@example.org", "警报 in\nMemlab", "第一行\n.\nlast",
        [Attachment("visit.ics", b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "text/calendar")],
    )  # fmt: skip
    (taken,) = server.taken
    assert taken["to"] == "contact@example.org"
    assert taken["subject"] == "警报 in Memlab"
    assert taken["auto-submitted"] == "auto-generated"
    text, calendar = taken.iter_parts()
    assert text.get_content().splitlines() == ["第一行", ".", "last"]
    assert calendar.get_filename() == "visit.ics"
    assert calendar.get_content_type() == "text/calendar"


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (mail.REFUSE_FOR_NOW, ("temporary", "refused_451")),
        (mail.REFUSE, ("permanent", "refused_554")),
        (mail.NO_SUCH_USER, ("permanent", "refused_550")),
        (mail.CUT_AT_ONCE, ("temporary", "no_server_SMTPServerDisconnected")),
        (mail.CUT_AFTER_DATA, ("unknown", "cut_SMTPServerDisconnected")),
    ],
)
def test_failure_says_whether_trying_again_is_safe(
    server: MailServer, behaviour: str, expected: tuple[str, str]
) -> None:
    server.behaviour = behaviour
    assert failure() == expected
    assert server.taken == []


def test_no_server_is_temporary(server: MailServer) -> None:
    with override_settings(EMAIL_PORT=1):
        assert failure() == ("temporary", "no_server_ConnectionRefusedError")


def test_without_a_server_nothing_is_sent() -> None:
    with override_settings(EMAIL_BACKEND=""):
        assert failure() == ("permanent", "not_configured")


def test_address_that_cannot_be_written_is_permanent(server: MailServer) -> None:
    assert failure("contact@example.org\nBcc: all@example.org") == ("permanent", "bad_address")


def test_mail_is_refused_inside_a_scope(lab: Lab) -> None:
    with lab_scope(lab.pk), pytest.raises(RuntimeError, match="leave the lab_scope"):
        send("contact@example.org", "Subject", "Text")


def test_address_of_the_server_is_read() -> None:
    server = env.mail("smtp+tls://memlab%40example.org:p%2Fw@mail.example.org")
    assert (server.host, server.port, server.user, server.password, server.starttls) == (
        "mail.example.org", 587, "memlab@example.org", "p/w", True,
    )  # fmt: skip
    assert (env.mail("smtp+ssl://h:8465").port, env.mail("smtp+ssl://h").tls) == (8465, True)
    assert env.mail("").backend == ""


def test_bad_address_of_the_server_is_refused_without_its_password() -> None:
    with pytest.raises(env.SettingError, match=r"MEMLAB_EMAIL_URL must look like") as raised:
        env.mail("mail://me:secret@host")
    assert "secret" not in str(raised.value)
