"""``python -m memlab.launch``: what `make run` does once its packages are there."""

import os
import sys
import time

from memlab.core.devdb import DatabaseLaunchError, development_database
from memlab.launch.address import HOST, chosen_port, health, require_free
from memlab.launch.banner import banner, read_demo
from memlab.launch.errors import LaunchError, StopAskedError
from memlab.launch.supervisor import Supervisor, say

UP_WITHIN_SECONDS = 90.0


def main() -> int:
    """Run until asked to stop (exit code 0) or until a part fails (1)."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memlab.settings.development")
    os.environ["PYTHONUNBUFFERED"] = "1"
    configured = os.environ.get("DATABASE_URL")
    supervisor = Supervisor(None if configured else development_database())
    supervisor.obey_signals()
    try:
        _run(supervisor)
    except StopAskedError:
        return 0
    except (LaunchError, DatabaseLaunchError) as error:
        sys.stderr.write(f"\nmemlab: {error}\n\n")
        return 1
    finally:
        supervisor.stop()
    return 0


def _run(supervisor: Supervisor) -> None:
    began = time.monotonic()
    port = chosen_port(os.environ.get("MEMLAB_PORT"))
    require_free(port)
    supervisor.start_database()
    manage = [sys.executable, "manage.py"]
    say("memlab", "bringing the database's tables up to date")
    supervisor.run_to_end("migrate", [*manage, "migrate", "--no-input"])
    say("memlab", "loading the demo lab")
    demo = read_demo(supervisor.run_to_end("demo", [*manage, "load_demo", "--json"]))
    supervisor.start("web", _web_command(port))
    supervisor.start("tasks", [*manage, "qcluster"])
    supervisor.wait_until(lambda: health(port), within=UP_WITHIN_SECONDS)
    print(banner(demo, base=f"http://{HOST}:{port}", seconds=time.monotonic() - began))
    sys.stdout.flush()
    supervisor.watch_for_ever()


def _web_command(port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "uvicorn", "memlab.asgi:application"),
        *("--host", HOST, "--port", str(port)),
        # Open chats must not hold up a stop: their pages reconnect.
        *("--timeout-graceful-shutdown", "3"),
        *("--log-level", "info", "--no-access-log"),
    ]


if __name__ == "__main__":
    sys.exit(main())
