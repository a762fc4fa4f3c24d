"""`make test`: all tests, in two processes, because a browser's driver leaves a loop running."""

import os
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Run both halves, also when the first fails; returns the exit code."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "memlab.settings.test"}
    failed = run_pytest(["tests", "--ignore", "tests/e2e"], environment) != 0
    browser = find_browser()
    if browser is None:
        print(
            "\nNOT RUN: the browser tests (tests/e2e), because no Chromium was found.\n"
            "Install one (Debian: apt install chromium; Ubuntu, macOS: Chrome or Chromium) or "
            "name it:\nMEMLAB_CHROMIUM=/path/to/chromium make test\n"
        )
        # A person is told; a machine that nobody watches must not pass without them.
        return int(failed or bool(os.environ.get("CI")))
    environment |= {"MEMLAB_CHROMIUM": browser, "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
    failed |= run_pytest(["tests/e2e"], environment) != 0
    return int(failed)


def run_pytest(arguments: list[str], environment: dict[str, str]) -> int:
    print(f"\n$ pytest {' '.join(arguments)}", flush=True)
    return subprocess.call([sys.executable, "-m", "pytest", *arguments], env=environment)


def find_browser() -> str | None:
    """The browser that MEMLAB_CHROMIUM names, or the first known one on the path."""
    if named := os.environ.get("MEMLAB_CHROMIUM"):
        found = shutil.which(named)
        if found is None:
            sys.exit(f"MEMLAB_CHROMIUM is {named!r}, which is no program that can be run.")
        return found
    return next(filter(None, map(shutil.which, BROWSERS)), None)


if __name__ == "__main__":
    sys.exit(main())
