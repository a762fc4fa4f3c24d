"""Rows of the comparison of arms in words."""

from __future__ import annotations

from django.utils.translation import gettext as _

from experiments.enums import WithinSession
from experiments.parameters import Value
from memlab.research.launch.identity import Part, Row


def row_name(row: Row) -> str:
    """What a row is about; a parameter by its own name, which is how everybody knows it."""
    names = {
        (Part.ARCHITECTURE, "architecture"): _("Architecture"),
        (Part.FACTOR, "within_session"): _("Within the session"),
        (Part.PROMPT, "instructions"): _("Prompt without memory"),
        (Part.PROMPT, "session"): _("What of the session a prompt carries"),
        (Part.WEIGHT, "weight"): _("Weight in the draw"),
    }
    return names.get((row.part, row.name), row.name)


def told(row: Row, value: Value | None) -> str:
    """A value of a row as a researcher reads it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if row.part is Part.FACTOR:
        return str(WithinSession(str(value)).label)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if value != "" else _("(empty)")
