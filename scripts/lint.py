"""`make lint`: every check that needs no running test; all of them, also when one fails."""

import os
import subprocess
import sys
from pathlib import Path

PYTHON = sys.executable
TOOLS = Path(PYTHON).parent

CHECKS = {
    "style": [PYTHON, "-m", "ruff", "check", "."],
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "import layers": [str(TOOLS / "lint-imports"), "--no-cache"],
    "migrations": [PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"],
    "translations": [PYTHON, "scripts/translations.py", "check"],
}


def main() -> int:
    """Run all checks and name those that failed."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "memlab.settings.test"}
    failed = []
    for name, command in CHECKS.items():
        print(f"\n── {name}", flush=True)
        if subprocess.call(command, env=environment) != 0:
            failed.append(name)
    print(f"\nlint: {'failed: ' + ', '.join(failed) if failed else 'all checks hold'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
