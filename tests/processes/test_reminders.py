"""Four workers are killed while they send, and a fortnight passes: nobody is reminded twice."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from memlab.core.webhook import signature
from tests.processes.house import House
from tests.processes.prepare_reminders import SECRET
from tests.standin.mail import MailServer, mail_server

PEOPLE = 8
WORKERS = ("worker-1", "worker-2", "worker-3", "worker-4")
SLOWLY = 0.2
HOUR = 3600.0


class HookServer(ThreadingHTTPServer):
    """Counts what it got, by the reminder's id, and says so after a while."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hook)
        self.got: list[str] = []


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        stamp, digest = self.headers["Memlab-Signature"].split(",")
        assert digest == "v1=" + signature(SECRET, body, at=int(stamp.removeprefix("t=")))
        assert isinstance(self.server, HookServer)
        self.server.got.append(json.loads(body)["id"])
        time.sleep(SLOWLY)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hook_server() -> Iterator[HookServer]:
    with HookServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Reminding:
    """The house with four workers at a clock that the test moves."""

    def __init__(self, house: House, folder: Path) -> None:
        self.house, self.clock = house, folder / "clock"
        self.clock.write_text("0")

    def start(self) -> None:
        for name in WORKERS:
            self.house.start_worker(name, "tests.processes.reminder_worker", str(self.clock))

    def kill(self) -> None:
        for name in WORKERS:
            self.house.kill(name)

    def go_to(self, hours: float) -> None:
        self.clock.write_text(str(hours * HOUR))

    def count(self, *states: str) -> int:
        query = "SELECT count(*) FROM experiments_reminder WHERE state = ANY(%s)"
        return int(self.house.ask(query, list(states))[0][0])

    def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline, self.rows()
            time.sleep(0.02)

    def kill_while_sending(self) -> int:
        """Kill all four until at least one of them was in the middle; how many stay so."""
        while True:
            self.until(lambda: self.count("sending") > 1)
            self.kill()
            stuck = self.count("sending")
            if stuck:
                return stuck
            self.start()

    def rows(self) -> list[dict[str, Any]]:
        found = self.house.ask(
            "SELECT r.id::text, r.channel, r.number, r.state, r.rule, p.code"
            " FROM experiments_reminder r JOIN experiments_participant p"
            " ON p.id = r.participant_id WHERE r.stage_key = 'T1'"
        )
        names = ("id", "channel", "number", "state", "rule", "code")
        return [dict(zip(names, row, strict=True)) for row in found]


def test_four_workers_kills_and_a_fortnight(house: House, tmp_path: Path) -> None:
    with mail_server() as mails, hook_server() as hooks:
        mails.delay = SLOWLY
        hook = f"http://127.0.0.1:{hooks.server_address[1]}"
        kept = dict(house.environment)
        house.environment |= {
            "MEMLAB_EMAIL_URL": f"smtp://127.0.0.1:{mails.port}",
            "MEMLAB_WEBHOOK_HOSTS": hook.removeprefix("http://"),
        }
        try:
            house.run("-m", "tests.processes.prepare_reminders", f"{hook}/remind", str(PEOPLE))
            stuck = scenario(Reminding(house, tmp_path))
        finally:
            house.kill_all()
            house.environment = kept
    rows = Reminding(house, tmp_path).rows()
    check(rows, stuck, delivered(mails, rows) + Counter(hooks.got))


def scenario(reminding: Reminding) -> int:
    """Invitations, interrupted; a fortnight later the last of the chain, interrupted too."""
    reminding.go_to(1.01)
    reminding.start()
    stuck = reminding.kill_while_sending()
    reminding.start()
    reminding.until(lambda: reminding.count("sent") >= PEOPLE)
    reminding.go_to(337.05)  # under the workers' feet
    reminding.until(lambda: reminding.count("unknown") >= stuck)
    again = reminding.kill_while_sending()
    reminding.go_to(337.6)  # whoever was killed has given no sign for long enough
    reminding.start()
    reminding.until(lambda: reminding.count("planned", "sending") == 0)
    return stuck + again


def delivered(mails: MailServer, rows: list[dict[str, Any]]) -> Counter[str]:
    """How often each reminder's mail has arrived, by its id: what it says tells which it is."""
    sent = {
        (row["code"], row["number"] == 0): row["id"]
        for row in rows
        if row["channel"] == "email" and row["rule"] == ""
    }
    found: Counter[str] = Counter()
    for mail in mails.taken:
        part = mail.get_body(("plain",))
        assert part is not None
        code = next(row["code"] for row in rows if row["code"] in part.get_content())
        found[sent[code, "is open" in mail["Subject"]]] += 1
    return found


def check(rows: list[dict[str, Any]], stuck: int, arrived: Counter[str]) -> None:
    assert len(rows) == 2 * PEOPLE * 4
    states = Counter(row["state"] for row in rows)
    assert set(states) == {"sent", "unknown", "expired"}
    assert states.total() == 2 * PEOPLE * 4  # the sums add up: nothing is anything else
    assert states["unknown"] >= stuck
    for row in rows:
        times = arrived[row["id"]]
        assert times <= 1, row
        if row["state"] == "sent":
            assert times == 1, row
        if row["state"] == "expired":
            assert times == 0, row
            assert row["rule"] == "overtaken", row
    # Of each chain the fortnight has overtaken the two in the middle; nobody was left out.
    middle = [row for row in rows if row["number"] in (1, 2)]
    assert {row["state"] for row in middle} == {"expired"}
    last = [row for row in rows if row["number"] == 3]
    assert {row["state"] for row in last} <= {"sent", "unknown"}
    assert len(arrived) == states["sent"] + sum(
        1 for row in rows if row["state"] == "unknown" and arrived[row["id"]]
    )
