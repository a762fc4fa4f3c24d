"""What a launch check finds, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext_lazy as _


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    BLOCKING = "blocking"
    UNKNOWN = "unknown"  # it takes a question that nobody has asked yet

    @property
    def label(self) -> str:
        return str(_LABELS[self])


_LABELS = {
    State.OK: _("in order"),
    State.WARNING: _("worth a look"),
    State.BLOCKING: _("keeps it from opening"),
    State.UNKNOWN: _("not yet known"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the checklist: ``found`` says what there is, ``remedy`` what to do about it and
    ``url`` where. What blocks and is ``overridable`` opens with an owner's reason, frozen with
    the version; the rest never does."""

    key: str
    title: str
    state: State
    found: str
    remedy: str = ""
    url: str = ""
    overridable: bool = True

    @property
    def holds_up(self) -> bool:
        """Whether the study can't open without an override."""
        return self.state in (State.BLOCKING, State.UNKNOWN)
