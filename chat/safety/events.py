"""What follows from something that was noticed: an adverse event, a pause, an alert, a card.

Inside a ``lab_scope``, in the transaction that stores what was said and under its session's row
lock: if the process dies, all of it is there or nothing, and the message is sent again. A message
that was stored before isn't looked at again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django_q.tasks import async_task

from chat.models import AdverseEvent, Message, ModelScreening
from chat.safety import alerts, card, pauses
from chat.safety.enums import Category, Severity, Source
from chat.safety.screen import Risk, screened
from experiments.enums import Clock
from experiments.models import Participant, Session
from memlab.core.due import DueKind, handler_of

# How long the task that is queued at once has before the tick looks for it.
FIRST_LOOK = timedelta(seconds=30)
Frames = tuple[dict[str, Any], ...]


def look_at(message: Message, session: Session, *, wall: datetime) -> Frames:
    """Screen a message or a reply that is being stored; the frames that its tabs get for it."""
    _have_screened(message, session, wall=wall)
    risk = screened(message.text)
    return () if risk is None else notice(message, session, Source.RULE, risk, wall=wall)


def filtered(question: Message, session: Session, *, wall: datetime) -> Frames:
    """The provider's content filter refused the answer to ``question``. What it saw is not said,
    so it is a concern and pauses nothing."""
    risk = Risk(Category.FILTERED, Severity.CONCERN, "content_filter")
    return notice(question, session, Source.CONTENT_FILTER, risk, wall=wall)


def notice(
    message: Message, session: Session, source: Source, risk: Risk, *, wall: datetime
) -> Frames:
    """Record what ``source`` noticed in a message, once, with all that follows from it."""
    event, created = AdverseEvent.objects.get_or_create(
        message=message,
        source=source,
        defaults={
            "participant": session.participant,
            "session": session,
            "category": risk.category,
            "severity": risk.severity,
            "rule": risk.rule,
            "occurred_at": message.at,
            "recorded_at": wall,
        },
    )
    if not created:
        return ()
    alerts.queue(event, wall=wall)
    return (*_pause(event, session, wall=wall), *card.frames(session))


def report(
    participant: Participant,
    source: Source,
    *,
    category: Category,
    severity: Severity,
    note: str,
    session: Session | None = None,
    message: Message | None = None,
    wall: datetime,
) -> AdverseEvent:
    """Record what staff or the participant report. Staff know it already: no alert."""
    event = AdverseEvent.objects.create(
        participant=participant,
        session=session,
        message=message,
        source=source,
        category=category,
        severity=severity,
        note=note.strip(),
        occurred_at=participant.study_time(wall),
        recorded_at=wall,
    )
    if source != Source.STAFF:
        alerts.queue(event, wall=wall)
    return event


def _pause(event: AdverseEvent, session: Session, *, wall: datetime) -> Frames:
    """Whether the study pauses for it. A replay never does: nobody sits before it."""
    pausing = session.version.configuration.safety.pauses
    grave = Severity(event.severity).rank >= Severity.SERIOUS.rank
    if not pausing or not grave or session.participant.clock == Clock.SCRIPTED:
        return ()
    return pauses.pause(session.participant, wall=wall, inside=session, event=str(event.id))


def _have_screened(message: Message, session: Session, *, wall: datetime) -> None:
    """Have the extraction model look at it too, if the study wants that."""
    asks = session.version.configuration.safety.asks_model
    if not asks or session.participant.clock == Clock.SCRIPTED:
        return
    row, created = ModelScreening.objects.get_or_create(message=message)
    if not created:
        return
    row.plan(wall=wall + FIRST_LOOK)
    lab_id, subject = message.lab_id, str(message.id)
    transaction.on_commit(lambda: async_task(handler_of(DueKind.SCREEN), lab_id, subject))
