"""Makes ``.venv`` and installs a requirements file into it; `make` calls it when either changes.

Only the standard library, and only syntax that Python 3.7 can read: this file has to tell their
users what is missing.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

OLDEST = (3, 11)
VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"

# What pip prints, and what it means for whoever reads it. The first that fits is told.
DIAGNOSES = [
    (
        r"No space left on device",
        "The disk is full. Free about 1 GB and run the command again.",
    ),
    (
        r"Read-only file system|Permission denied",
        "A folder can't be written. Make this folder writable for your account, or clone "
        "Memlab somewhere else.",
    ),
    (
        r"Temporary failure in name resolution|Name or service not known|nodename nor servname"
        r"|Network is unreachable|Connection refused|NewConnectionError|Read timed out"
        r"|ProxyError|ConnectTimeout|getaddrinfo failed",
        "The package index can't be reached. Check the network (and HTTPS_PROXY, PIP_INDEX_URL, "
        "if you use them) and run the command again.",
    ),
    (
        r"command '[^']*(gcc|cc|clang|c\+\+|cl\.exe)[^']*' failed|unable to execute '[^']*cc'"
        r"|No such file or directory: '[^']*(gcc|cc|clang)'|[Cc]ompiler"
        r"|Failed (to build|building wheel)|can't find Rust|[Cc]argo",
        "A package has no ready-made build for this Python on this machine and needs a compiler. "
        "Use CPython 3.11, 3.12 or 3.13 on Linux (glibc) or macOS, where none is needed, or "
        "install one (Debian: apt install build-essential python3-dev).",
    ),
    (
        r"No matching distribution found|Could not find a version",
        "A pinned package isn't offered for this Python on this machine. Use CPython 3.11, 3.12 "
        "or 3.13 on Linux (glibc) or macOS, or look at PIP_INDEX_URL if you use one.",
    ),
]


def main(requirements: str, stamp: str) -> None:
    """Bring ``.venv`` up to ``requirements`` and write ``stamp`` when that is done."""
    if sys.version_info < OLDEST:
        stop(f"This is Python {version()}; Memlab needs 3.11 or newer.")
    check_writable()
    if not usable_venv():
        make_venv()
    install(requirements)
    Path(stamp).write_text(f"installed {requirements}\n")


def check_writable() -> None:
    probe = Path(".bootstrap-probe")
    try:
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        stop(
            f"{Path.cwd()} can't be written ({error.strerror}). Make it writable for your "
            "account, or clone Memlab somewhere else."
        )


def usable_venv() -> bool:
    check = f"import sys, pip; sys.exit(sys.version_info < {OLDEST!r})"
    try:
        return subprocess.call([str(PYTHON), "-c", check], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_venv() -> None:
    try:
        import ensurepip  # noqa: F401  (Debian ships venv without it)
        import venv
    except ImportError as error:
        stop(
            f"This Python ({sys.executable}) can't make virtual environments: {error}. Install "
            f"what it lacks (Debian, Ubuntu: apt install python{version()}-venv) and run the "
            "command again."
        )
    say(f"making .venv with Python {version()}")
    try:
        venv.create(str(VENV), with_pip=True, clear=True, symlinks=True)
    except (OSError, subprocess.CalledProcessError) as error:
        stop(f"The virtual environment {VENV.resolve()} can't be made: {error}")


def install(requirements: str) -> None:
    say(f"installing {requirements} (a few minutes the first time)")
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    command += ["--quiet", "--prefer-binary", "--requirement", requirements]
    printed = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
    ) as pip:
        for line in pip.stdout or []:
            printed.append(line)
            sys.stdout.write("  " + line)
            sys.stdout.flush()
    if pip.returncode != 0:
        stop(diagnosis("".join(printed)) or "pip failed; its own words are above.")


def diagnosis(printed: str) -> "str | None":
    """The meaning of pip's output, or None when it fits nothing known."""
    for pattern, meaning in DIAGNOSES:
        if re.search(pattern, printed):
            return meaning
    return None


def version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def say(text: str) -> None:
    print(f"memlab: {text}", flush=True)


def stop(text: str) -> NoReturn:
    sys.stderr.write(f"\nmemlab: {text}\n\n")
    sys.exit(1)


if __name__ == "__main__":
    os.chdir(str(Path(__file__).resolve().parent.parent))
    main(sys.argv[1], sys.argv[2])
