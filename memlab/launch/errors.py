"""How a launch ends other than well."""


class LaunchError(RuntimeError):
    """A part can't be started, or ended by itself; says what and what to do."""

    def __init__(self, what: str, *, remedy: str) -> None:
        super().__init__(f"{what}\n{remedy}")


class StopAskedError(Exception):
    """Somebody pressed Ctrl-C or sent SIGTERM."""
