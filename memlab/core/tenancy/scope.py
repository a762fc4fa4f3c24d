"""The active lab: set for one transaction, in Postgres and in Python alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import connection, transaction

SETTING = "memlab.lab_id"

_active: ContextVar[int | None] = ContextVar("memlab_active_lab", default=None)


class NoActiveLab(RuntimeError):
    """A tenant's rows were asked for outside any lab."""

    def __init__(self, what: str = "rows of a lab") -> None:
        super().__init__(
            f"{what} were asked for without an active lab. "
            "Put the unit of work inside `with lab_scope(lab_id):`."
        )


def active_lab_id() -> int | None:
    """The lab of the innermost open scope, or None."""
    return _active.get()


def require_lab(what: str = "rows of a lab") -> int:
    """The active lab's id; raises NoActiveLab outside a scope."""
    lab_id = _active.get()
    if lab_id is None:
        raise NoActiveLab(what)
    return lab_id


@contextmanager
def lab_scope(lab_id: int) -> Iterator[None]:
    """Run one synchronous unit of work as one lab, in one transaction.

    The setting is local to the transaction, because a session-level one leaks to the next user of
    a pooled connection. Scopes nest: the inner one is a savepoint and the outer lab returns after
    it. A rollback restores the setting by itself, so only a success has to.
    Never await inside, and never call a model: see docs/architecture.md.
    """
    outermost = not connection.in_atomic_block
    previous = _active.get()
    with transaction.atomic():
        _set_local(str(int(lab_id)))
        token = _active.set(int(lab_id))
        try:
            yield
        finally:
            _active.reset(token)
        if not outermost:
            _set_local("" if previous is None else str(previous))


def _set_local(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [SETTING, value])
