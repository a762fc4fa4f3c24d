"""``python -m memlab.core.devdb start|stop|kill|status|url|remove``, and ``during COMMAND…``."""

import argparse
import os
import subprocess
import sys

from memlab.core.devdb import DatabaseLaunchError, development_database

_HELP = {
    "start": "start the server unless it runs, and print its URL",
    "stop": "stop it in order",
    "kill": "stop it at once, as a power cut would",
    "status": "say whether it runs (exit code 0) or not (3)",
    "url": "print its URL without starting anything",
    "remove": "stop it and delete its data",
    "during": "run a command with the server up; stop it after, if it wasn't running before",
}


def main(arguments: list[str]) -> int:
    """Carry out one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m memlab.core.devdb", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in _HELP.items():
        commands.add_parser(name, help=text)
    commands.choices["during"].add_argument("words", nargs=argparse.REMAINDER)
    parsed = parser.parse_args(arguments)
    if os.environ.get("DATABASE_URL"):
        print("DATABASE_URL is set: that database is used, the embedded one is left alone.")
        return subprocess.call(parsed.words) if parsed.command == "during" else 0
    try:
        if parsed.command == "during":
            return _run_during(parsed.words)
        return _carry_out(parsed.command)
    except DatabaseLaunchError as error:
        print(f"database: {error}", file=sys.stderr)
        return 1


def _carry_out(command: str) -> int:
    database = development_database()
    match command:
        case "start":
            print(database.start())
        case "stop":
            database.stop()
        case "kill":
            database.kill()
        case "remove":
            database.remove()
        case "url":
            print(database.url())
        case "status":
            running = database.is_running()
            print(f"running: {database.url()}" if running else "not running")
            return 0 if running else 3
    return 0


def _run_during(words: list[str]) -> int:
    database = development_database()
    running_before = database.is_running()
    database.start()
    try:
        return subprocess.call(words)
    finally:
        if not running_before:
            database.stop_when_unused()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
