"""The development database of a checkout: one server, started by whoever comes first."""

import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import psycopg

from memlab.core.devdb.account import (
    Account,
    account_to_drop_to,
    give,
    make_enterable,
    may_enter,
    owner_of,
)
from memlab.core.devdb.administration import count_clients, provision
from memlab.core.devdb.binaries import runnable_binaries
from memlab.core.devdb.errors import DatabaseLaunchError
from memlab.core.devdb.lock import exclusive
from memlab.core.devdb.postmaster import PortTakenError, Postmaster
from memlab.core.devdb.record import (
    HOST,
    ServerRecord,
    forget_record,
    read_record,
    write_record,
)

SHARED_ROOT = Path("/var/lib/memlab")
PORT_ATTEMPTS = 5


class DevelopmentDatabase:
    """An embedded PostgreSQL with pgvector that keeps its files in ``data_dir``.

    Started by root it runs as an ordinary account; where that account can't enter ``data_dir``,
    programs and data go below ``shared_root``. ``durable=False`` gives up crash safety for
    speed: for data that may be lost.
    """

    def __init__(
        self, data_dir: Path, *, durable: bool = True, shared_root: Path = SHARED_ROOT
    ) -> None:
        self.data_dir = data_dir.resolve()
        self.durable = durable
        self.shared_root = shared_root

    def start(self) -> str:
        """Start the server unless it runs, and return the application role's URL."""
        with self._locked():
            record = self._placed_record()
            postmaster = self._postmaster(record)
            if not postmaster.wait_while_starting():
                record = self._launch_on_a_free_port(postmaster)
            # Repeated on a running server: its starter may have been killed before this.
            self._provision(record)
        return record.url

    def stop(self) -> None:
        """Stop the server in order; nothing happens when it isn't running."""
        self._halt("fast")

    def stop_when_unused(self, *, patience: float = 3.0) -> int:
        """Stop the server unless others use it; returns how many connections kept it running.

        The server notices only after a moment that a process is gone: connections get
        ``patience`` seconds to disappear.
        """
        deadline = time.monotonic() + patience
        while clients := count_clients(self._known_record()):
            if time.monotonic() > deadline:
                return clients
            time.sleep(0.1)
        self.stop()
        return 0

    def kill(self) -> None:
        """Stop the server at once, as a power cut would; the next start recovers."""
        self._halt("immediate")

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.kill()
        record = read_record(self.data_dir)
        if record is not None:
            with self._locked():
                shutil.rmtree(record.store)
                forget_record(self.data_dir)

    def is_running(self) -> bool:
        """Whether the server runs and accepts connections."""
        record = read_record(self.data_dir)
        return record is not None and self._postmaster(record).is_ready()

    def process_id(self) -> int | None:
        """The server's process id, or None when it isn't running."""
        record = read_record(self.data_dir)
        return None if record is None else self._postmaster(record).pid()

    def url(self) -> str:
        """The application role's URL, whether or not the server runs; raises if never started."""
        return self._known_record().url

    def superuser_url(self) -> str:
        """The superuser's URL, for tests and administration only: no row policy binds it."""
        return self._known_record().superuser_url

    def last_log_lines(self, count: int) -> list[str]:
        """The end of the server's log, which says why it stopped."""
        return self._known_record().log.read_text(errors="replace").splitlines()[-count:]

    def _known_record(self) -> ServerRecord:
        record = read_record(self.data_dir)
        if record is None:
            raise DatabaseLaunchError(
                "the development database was never started",
                where=self.data_dir,
                remedy="Run `make run` or `python -m memlab.core.devdb start`, "
                "or set DATABASE_URL to a database of your own.",
            )
        return record

    def _halt(self, mode: Literal["fast", "immediate"]) -> None:
        record = read_record(self.data_dir)
        if record is not None:
            with self._locked():
                self._postmaster(record).halt(mode)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with _writing(self.data_dir):
            self.data_dir.mkdir(parents=True, exist_ok=True)
            (self.data_dir / "lock").touch()
        with exclusive(self.data_dir / "lock"):
            yield

    def _placed_record(self) -> ServerRecord:
        """The remembered server, or a new place where the server's account can work."""
        record = read_record(self.data_dir)
        if record is None:
            record = ServerRecord(store=self._new_store(), port=_free_port())
        with _writing(record.store):
            if not record.store.exists():
                record.store.mkdir(mode=0o700, parents=True)
                give(account_to_drop_to(), record.store)
            write_record(self.data_dir, record)
        return record

    def _new_store(self) -> Path:
        if may_enter(account_to_drop_to(), self.data_dir):
            return self.data_dir / "server"
        stores = self.shared_root / "stores"
        with _writing(stores):
            make_enterable(self.shared_root)
            make_enterable(stores)
        return stores / uuid.uuid4().hex[:12]

    def _postmaster(self, record: ServerRecord) -> Postmaster:
        account = self._account_for(record.store)
        binaries = runnable_binaries(account, self.shared_root)
        return Postmaster(record=record, binaries=binaries, account=account)

    def _account_for(self, store: Path) -> Account | None:
        # Files made by one account are served by that account, also when root starts next.
        account = account_to_drop_to()
        return owner_of(store) if account is not None and store.exists() else account

    def _launch_on_a_free_port(self, postmaster: Postmaster) -> ServerRecord:
        postmaster.initialise(durable=self.durable)
        record = postmaster.record
        for _ in range(PORT_ATTEMPTS):
            if not _is_free(record.port):
                record = ServerRecord(store=record.store, port=_free_port())
            write_record(self.data_dir, record)
            try:
                self._postmaster(record).launch(durable=self.durable)
            except PortTakenError:
                continue
            return record
        raise DatabaseLaunchError(
            f"no port could be had in {PORT_ATTEMPTS} attempts",
            where=f"{HOST}:{record.port}",
            remedy="Another program takes every port as it gets free; end it and start again.",
        )

    def _provision(self, record: ServerRecord) -> None:
        try:
            provision(record)
        except psycopg.Error as error:
            raise DatabaseLaunchError(
                f"the role and the database can't be prepared: {error}",
                where=f"{HOST}:{record.port}",
                remedy="If the superuser's password was changed, put it into "
                f"{record.password_file}.",
            ) from error


@contextmanager
def _writing(where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatabaseLaunchError(
            f"the database's folder can't be written: {error.strerror}",
            where=where,
            remedy="Make it writable for this account, set MEMLAB_DATA_DIR to a folder that is, "
            "or set DATABASE_URL to a database of your own.",
        ) from error


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As PostgreSQL does it: connections that just closed don't count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
