"""Telemetry of participants who agreed to it: how their messages were written."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any
from uuid import UUID

from chat.models import Message, Writing
from experiments.enums import ConsentKind, ParticipantState
from experiments.models import Participant, Session

LONGEST = 24 * 3600 * 1000  # milliseconds
MOST = 32767


class Unreadable(Exception):
    """What was sent is no measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the page measured of one message; times in milliseconds, all whole numbers ≥ 0."""

    typing_ms: int
    pastes: int
    pasted_characters: int
    departures: int
    away_ms: int


def agreed(participant: Participant) -> bool:
    """Whether the participant said yes to the separate consent; unasked is no."""
    given = participant.consents.filter(kind=ConsentKind.TELEMETRY, agreed=True)
    return bool(given.exists())


def read(body: bytes) -> tuple[UUID, Measured]:
    """The message's ``client_id`` and what was measured. Raises Unreadable."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        raise Unreadable from None
    if not isinstance(sent, dict):
        raise Unreadable
    numbers = {field.name: _number(sent.get(field.name)) for field in fields(Measured)}
    try:
        return UUID(str(sent.get("client_id"))), Measured(**numbers)
    except ValueError:
        raise Unreadable from None


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Unreadable
    return value


def keep(participant: Participant, session: Session, client_id: UUID, measured: Measured) -> bool:
    """Keep what was measured of a stored message, once; False where nothing may be kept.

    Participant.DoesNotExist if they were anonymised or erased meanwhile.
    """
    held = participant.hold()
    if held.state != ParticipantState.ACTIVE or held.has_left_chat or not agreed(held):
        return False
    message = Message.objects.filter(session=session, client_id=client_id).first()
    if message is None:
        return False
    limits = {"typing_ms": LONGEST, "away_ms": LONGEST, "pasted_characters": LONGEST}
    counts = {name: min(n, limits.get(name, MOST)) for name, n in asdict(measured).items()}
    Writing.objects.get_or_create(message=message, defaults=counts)
    return True
