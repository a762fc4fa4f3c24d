"""The embedded database: real servers in folders of their own, removed after each test."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from memlab.core.devdb import DatabaseLaunchError, DevelopmentDatabase, development_url
from memlab.core.devdb.postmaster import Postmaster
from memlab.core.devdb.record import ServerRecord, read_record

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[DevelopmentDatabase]:
    """A server for tests that don't ask what survives: made faster, without waiting for disks."""
    database = DevelopmentDatabase(tmp_path / "pg", durable=False)
    yield database
    database.remove()


@pytest.fixture
def durable(tmp_path: Path) -> Iterator[DevelopmentDatabase]:
    """A server as `make run` has it."""
    database = DevelopmentDatabase(tmp_path / "pg")
    yield database
    database.remove()


def one(url: str, query: str) -> tuple[object, ...] | None:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchone()


def test_start_serves_the_app_role_without_the_powers_that_pass_row_policies(
    database: DevelopmentDatabase,
) -> None:
    url = database.start()
    record = read_record(database.data_dir)
    assert record is not None
    assert url == f"postgres://memlab@127.0.0.1:{record.port}/memlab" == database.url()
    assert one(url, "SELECT current_user::text, current_database()::text") == ("memlab", "memlab")
    role = one(
        url,
        "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole"
        " FROM pg_roles WHERE rolname = current_user",
    )
    assert role == (False, False, True, False)


def test_databases_that_the_app_role_makes_have_the_vector_type(
    database: DevelopmentDatabase,
) -> None:
    url = database.start()
    assert one(url, "SELECT '[1,2,3]'::vector <-> '[1,2,5]'::vector") == (2.0,)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE test_made_by_the_app_role")
    made = url.removesuffix("/memlab") + "/test_made_by_the_app_role"
    assert one(made, "SELECT '[1,2,3]'::vector <-> '[1,2,5]'::vector") == (2.0,)


def test_server_is_durable_and_takes_many_connections(durable: DevelopmentDatabase) -> None:
    url = durable.start()
    assert one(url, "SHOW fsync") == ("on",)
    assert one(url, "SHOW max_connections") == ("200",)
    assert one(url, "SHOW timezone") == ("UTC",)
    assert one(url, "SELECT lower('ÄÉ'), 'a' < 'B' COLLATE \"default\"") == ("äé", False)


def test_throwaway_server_gives_up_durability(database: DevelopmentDatabase) -> None:
    assert one(database.start(), "SHOW fsync") == ("off",)


def test_superuser_needs_its_password(database: DevelopmentDatabase) -> None:
    url = database.start()
    assert one(database.superuser_url(), "SELECT current_user::text") == ("postgres",)
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(url.replace("memlab@", "postgres@"))


def test_second_start_reuses_the_running_server(database: DevelopmentDatabase) -> None:
    url = database.start()
    process = database.process_id()
    assert database.start() == url
    assert database.process_id() == process


def test_stop_and_start_keep_port_and_rows(database: DevelopmentDatabase) -> None:
    url = database.start()
    keep_a_row(url)
    database.stop()
    assert not database.is_running()
    assert database.process_id() is None
    assert database.start() == url
    assert one(url, "SELECT word FROM kept") == ("kept",)


def test_killed_server_starts_again_with_every_committed_row(
    durable: DevelopmentDatabase,
) -> None:
    url = durable.start()
    keep_a_row(url)
    process = durable.process_id()
    assert process is not None
    os.kill(process, signal.SIGKILL)
    wait_until_gone(process)
    assert not durable.is_running()
    assert durable.start() == url
    assert one(url, "SELECT word FROM kept") == ("kept",)


def test_immediate_stop_loses_nothing_committed(durable: DevelopmentDatabase) -> None:
    url = durable.start()
    keep_a_row(url)
    durable.kill()
    assert not durable.is_running()
    durable.start()
    assert one(url, "SELECT word FROM kept") == ("kept",)


def test_stop_without_a_running_server_is_harmless(database: DevelopmentDatabase) -> None:
    database.stop()
    database.start()
    database.stop()
    database.stop()
    assert not database.is_running()


def test_pid_file_that_names_a_strangers_process_is_cleared(
    database: DevelopmentDatabase,
) -> None:
    url = database.start()
    database.kill()
    record = read_record(database.data_dir)
    assert record is not None
    with subprocess.Popen(["sleep", "60"], user=record.cluster.stat().st_uid) as stranger:
        pid_file = record.cluster / "postmaster.pid"
        pid_file.write_text(f"{stranger.pid}\n{record.cluster}\n0\n{record.port}\n\n127.0.0.1\n")
        assert not database.is_running()
        assert database.start() == url
        assert stranger.poll() is None
        stranger.kill()


def test_taken_port_is_left_alone_and_another_one_chosen(database: DevelopmentDatabase) -> None:
    url = database.start()
    database.stop()
    with socket.create_server(("127.0.0.1", port_of(url))):
        moved = database.start()
        assert port_of(moved) != port_of(url)
        assert one(moved, "SELECT 1") == (1,)
    assert database.url() == moved


def test_interrupted_initdb_is_thrown_away(database: DevelopmentDatabase) -> None:
    url = database.start()
    database.stop()
    record = read_record(database.data_dir)
    assert record is not None
    record.cluster.rename(record.store / "cluster.partial")
    (record.store / "cluster.partial" / "global" / "pg_control").unlink()
    assert database.start() == url
    assert not (record.store / "cluster.partial").exists()


def test_simultaneous_starts_make_one_server(database: DevelopmentDatabase) -> None:
    environment = {**os.environ, "MEMLAB_DATA_DIR": str(database.data_dir.parent)}
    environment.pop("DATABASE_URL", None)

    def start() -> str:
        return subprocess.run(
            [sys.executable, "-m", "memlab.core.devdb", "start"],
            cwd=CHECKOUT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    with ThreadPoolExecutor(3) as pool:
        urls = set(pool.map(lambda _: start(), range(3)))
    assert urls == {database.url()}
    assert database.is_running()


def test_unwritable_folder_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseLaunchError, match="can't be written") as refused:
        DevelopmentDatabase(tmp_path / "file" / "pg").start()
    assert refused.value.where == str(tmp_path / "file" / "pg")
    assert "MEMLAB_DATA_DIR" in refused.value.remedy
    if os.geteuid() != 0:
        tmp_path.chmod(0o555)
        with pytest.raises(DatabaseLaunchError, match="can't be written"):
            DevelopmentDatabase(tmp_path / "pg").start()
        tmp_path.chmod(0o755)


def test_failed_initdb_says_what_and_where(tmp_path: Path) -> None:
    binaries = make(tmp_path / "bin")
    (binaries / "initdb").write_text("#!/bin/sh\necho 'no space left on device' >&2\nexit 1\n")
    (binaries / "initdb").chmod(0o755)
    record = ServerRecord(make(tmp_path / "server"), 1)
    with pytest.raises(DatabaseLaunchError, match="exit code 1: no space left") as failed:
        Postmaster(record, binaries, account=None).initialise(durable=True)
    assert failed.value.where == str(record.store / "cluster.partial")
    assert not record.cluster.exists()


def test_missing_wheel_names_the_platform_and_the_way_out(database: DevelopmentDatabase) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memlab.core.devdb.binaries.PACKAGE", "memlab_no_such_package")
        with pytest.raises(DatabaseLaunchError, match="isn't installed") as missing:
            database.start()
    assert "DATABASE_URL" in missing.value.remedy


def test_data_in_a_closed_folder_move_to_where_the_account_can_work(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has to drop to another account")
    closed = make(tmp_path / "closed")
    closed.chmod(0o700)
    database = DevelopmentDatabase(closed / "pg")
    try:
        assert one(database.start(), "SELECT 1") == (1,)
        record = read_record(database.data_dir)
        assert record is not None
        assert record.store.parent == Path("/var/lib/memlab/stores")
        assert record.store.stat().st_uid != 0
    finally:
        database.remove()
    assert not record.store.exists()


def test_url_of_a_database_never_started_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLAB_DATA_DIR", str(tmp_path))
    with pytest.raises(DatabaseLaunchError, match="never started") as error:
        development_url()
    assert "make run" in error.value.remedy


def test_damaged_record_is_named(database: DevelopmentDatabase) -> None:
    (make(database.data_dir) / "server.json").write_text("{")
    with pytest.raises(DatabaseLaunchError, match="can't read its own record"):
        database.start()
    (database.data_dir / "server.json").unlink()


def test_during_lends_the_server_to_one_command(database: DevelopmentDatabase) -> None:
    question = "import sys; sys.path.insert(0, sys.argv[1]); import memlab.core.devdb as devdb\n"
    question += "sys.exit(41 if devdb.development_database().is_running() else 1)"
    command = [sys.executable, "-c", question, str(CHECKOUT)]
    assert during(database, command) == 41
    assert not database.is_running()
    database.start()
    assert during(database, command) == 41
    assert database.is_running()


def test_server_that_others_use_stays_up(database: DevelopmentDatabase) -> None:
    with psycopg.connect(database.start()):
        assert database.stop_when_unused(patience=0.2) == 1
        assert database.is_running()
    assert database.stop_when_unused() == 0
    assert not database.is_running()


def test_commands_leave_the_embedded_server_alone_when_a_database_is_configured(
    tmp_path: Path,
) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": "postgres://somebody@db.invalid/memlab",
        "MEMLAB_DATA_DIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "memlab.core.devdb", "start"],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "DATABASE_URL is set" in done.stdout
    assert list(tmp_path.iterdir()) == []


def during(database: DevelopmentDatabase, command: list[str]) -> int:
    environment = {**os.environ, "MEMLAB_DATA_DIR": str(database.data_dir.parent)}
    environment.pop("DATABASE_URL", None)
    return subprocess.call(
        [sys.executable, "-m", "memlab.core.devdb", "during", *command],
        cwd=CHECKOUT,
        env=environment,
    )


def keep_a_row(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('kept')")


def wait_until_gone(process: int) -> None:
    deadline = time.monotonic() + 10
    while Path(f"/proc/{process}").exists() and time.monotonic() < deadline:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")")[1].split()[0]
        if state == "Z":
            return
        time.sleep(0.05)


def port_of(url: str) -> int:
    return int(url.rsplit(":", 1)[1].split("/")[0])


def make(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
