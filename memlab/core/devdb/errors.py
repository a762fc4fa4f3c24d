"""The one error of the database launcher: what was wrong, where, and what to do."""

from pathlib import Path


class DatabaseLaunchError(RuntimeError):
    """The embedded database can't be prepared, started, stopped or found.

    ``what`` names the failure, ``where`` the folder, file or port, ``remedy`` the next step.
    """

    def __init__(self, what: str, *, where: Path | str, remedy: str) -> None:
        super().__init__(f"{what} ({where}). {remedy}")
        self.what = what
        self.where = str(where)
        self.remedy = remedy
