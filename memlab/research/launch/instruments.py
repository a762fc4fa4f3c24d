"""Frozen questionnaires by the names that a configuration has for them."""

from __future__ import annotations

from questionnaires.content import InstrumentContent
from questionnaires.models import InstrumentVersion


def content_of(instrument: str, number: int) -> InstrumentContent | None:
    """What a version of an instrument holds, in the active lab; None if there is none."""
    found = InstrumentVersion.objects.filter(instrument__key=instrument, number=number).first()
    return None if found is None else found.content
