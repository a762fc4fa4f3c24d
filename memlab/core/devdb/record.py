"""What the launcher remembers between starts, in ``server.json`` of the data folder."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from memlab.core.devdb.errors import DatabaseLaunchError

APP_ROLE = "memlab"
DATABASE = "memlab"
SUPERUSER = "postgres"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class ServerRecord:
    """Where a server keeps its files (``store``) and on which port it was last started."""

    store: Path
    port: int

    @property
    def cluster(self) -> Path:
        """The PostgreSQL data directory."""
        return self.store / "cluster"

    @property
    def log(self) -> Path:
        """The server's log; errors quote its last lines."""
        return self.store / "postgres.log"

    @property
    def password_file(self) -> Path:
        """The superuser's password, readable by the server's account alone."""
        return self.store / "superuser-password"

    @property
    def url(self) -> str:
        """The address for the application's role."""
        return f"postgres://{APP_ROLE}@{HOST}:{self.port}/{DATABASE}"

    @property
    def superuser_url(self) -> str:
        """The address for administration; its role is outside every row policy."""
        password = self.password_file.read_text().strip()
        return f"postgres://{SUPERUSER}:{password}@{HOST}:{self.port}/{DATABASE}"


def read_record(data_dir: Path) -> ServerRecord | None:
    """The remembered server of ``data_dir``, or None when none was ever started there."""
    path = data_dir / "server.json"
    try:
        fields = json.loads(path.read_text())
        return ServerRecord(store=data_dir / fields["store"], port=int(fields["port"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatabaseLaunchError(
            f"the database launcher can't read its own record: {error!r}",
            where=path,
            remedy="Use the account that made it; if it is damaged, delete this one file.",
        ) from error


def write_record(data_dir: Path, record: ServerRecord) -> None:
    """Remember ``record``; a reader sees the old file or the new one, never half of it.

    A store inside ``data_dir`` is written relative to it, so that a checkout may be moved.
    """
    store = record.store
    if store.is_relative_to(data_dir):
        store = store.relative_to(data_dir)
    partial = data_dir / "server.json.partial"
    partial.write_text(json.dumps({"store": str(store), "port": record.port}))
    os.replace(partial, data_dir / "server.json")


def forget_record(data_dir: Path) -> None:
    """Forget the server of ``data_dir``; the next start makes a new one."""
    (data_dir / "server.json").unlink(missing_ok=True)
