"""Telling the study's safety contact: planned with the event, sent by a task, at most once.

The mail names the participant by their code and leads to the event; nothing that was said leaves
the installation. States are in ``AlertState``; what may happen to a process is in ``send``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import formats, translation
from django.utils.translation import gettext as _
from django_q.tasks import async_task

from chat.models import AdverseEvent
from chat.models.adverse_event import ONE_ALERT_IN
from chat.safety.enums import AlertState, Severity
from experiments.enums import Clock
from experiments.models import Lab
from memlab.core import mail
from memlab.core.due import Due, DueKind, handler_of
from memlab.core.mail import MailFailure, MailTrouble
from memlab.core.tenancy import lab_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One mail, ready to be sent."""

    to: str
    subject: str
    body: str


def queue(event: AdverseEvent, *, wall: datetime) -> None:
    """Have the contact told of a new event, in its transaction. A replay tells nobody, and what is
    no worse than an open event of the last hour came with that one's mail."""
    participant = event.participant
    if participant.clock == Clock.SCRIPTED:
        return
    if _covered(event, wall=wall):
        event.alert = AlertState.EARLIER
        event.save(update_fields=["alert"])
        return
    queue_again(event, wall=wall)


def queue_again(event: AdverseEvent, *, wall: datetime) -> None:
    """Have the contact told, whatever became of an earlier try: staff's remedy too."""
    event.queue_alert(wall=wall)
    lab_id, subject = event.lab_id, str(event.id)
    transaction.on_commit(lambda: async_task(handler_of(DueKind.ALERT), lab_id, subject))


def _covered(event: AdverseEvent, *, wall: datetime) -> bool:
    earlier = AdverseEvent.objects.unhandled().filter(
        participant_id=event.participant_id,
        recorded_at__gt=wall - ONE_ALERT_IN,
        alert__in=[AlertState.QUEUED, AlertState.SENDING, AlertState.SENT],
    )
    ranks = [Severity(each).rank for each in earlier.values_list("severity", flat=True)]
    return max(ranks, default=-1) >= Severity(event.severity).rank


def send(lab_id: int, event_id: UUID, *, wall: datetime) -> AlertState | None:
    """Send an event's mail if it is this process's to send; how it stands afterwards, None if there
    is no such event.

    Dead before ``_begin`` commits: the due row brings it back. Dead between that and the last
    commit: it may have been sent, so it becomes *unknown* and staff decide. What the mail server
    certainly didn't take is tried again.
    """
    letter = _begin(lab_id, event_id, wall=wall)
    if letter is None:
        return _state_of(lab_id, event_id)
    try:
        mail.send(letter.to, letter.subject, letter.body)
    except MailFailure as failure:
        return _end(lab_id, event_id, failure, wall=wall)
    return _end(lab_id, event_id, None, wall=wall)


def _begin(lab_id: int, event_id: UUID, *, wall: datetime) -> Letter | None:
    with lab_scope(lab_id):
        event = _locked(lab_id, event_id)
        if event is None:
            Due.objects.settle(lab_id=lab_id, kind=DueKind.ALERT, subject=event_id)
            return None
        if not event.begin_alert(wall=wall):
            return None
        letter = letter_of(event)
        if letter is None:
            event.alert_failed("no_contact")
        return letter


def _end(
    lab_id: int, event_id: UUID, failure: MailFailure | None, *, wall: datetime
) -> AlertState | None:
    with lab_scope(lab_id):
        event = _locked(lab_id, event_id)
        if event is None or event.alert != AlertState.SENDING:
            return None if event is None else AlertState(event.alert)
        match failure:
            case None:
                event.alert_sent(wall=wall)
            case MailFailure(kind=MailTrouble.TEMPORARY):
                event.postpone_alert(failure.code, wall=wall)
            case MailFailure(kind=MailTrouble.PERMANENT):
                event.alert_failed(failure.code)
            case _:
                event.alert_unknown(failure.code)
        return AlertState(event.alert)


def _locked(lab_id: int, event_id: UUID) -> AdverseEvent | None:
    rows = AdverseEvent.objects.select_for_update(of=("self",)).select_related("participant__study")
    return rows.filter(lab_id=lab_id, pk=event_id).first()


def _state_of(lab_id: int, event_id: UUID) -> AlertState | None:
    with lab_scope(lab_id):
        event = AdverseEvent.objects.filter(lab_id=lab_id, pk=event_id).first()
        return None if event is None else AlertState(event.alert)


def letter_of(event: AdverseEvent) -> Letter | None:
    """The mail about an event, in the lab's language and zone; None without anybody to tell. The
    contact is the study's present one: who left isn't the one to call."""
    study = event.participant.study
    if not study.safety_contact_email:
        return None
    lab = Lab.objects.get(pk=event.lab_id)
    page = reverse("admin:chat_adverseevent_change", args=[event.pk])
    with translation.override(lab.language):
        when = event.recorded_at.astimezone(ZoneInfo(lab.time_zone))
        facts = (
            (_("Participant"), event.participant.code),
            (_("Study"), study.title),
            (_("What it is about"), event.get_category_display()),
            (_("Severity"), event.get_severity_display()),
            (_("Noticed by"), event.get_source_display()),
            (_("Time"), f"{formats.date_format(when, 'DATETIME_FORMAT')} ({lab.time_zone})"),
            (_("The participant is paused"), _("yes") if event.participant.paused_at else _("no")),
        )
        subject = _("Adverse event: participant %(code)s, %(severity)s") % {
            "code": event.participant.code,
            "severity": event.get_severity_display(),
        }
        if event.participant.test_mode:
            subject = f"[{_('test run')}] {subject}"
        lead = _(
            "Something in a conversation of your study needs to be looked at by a person. What was "
            "said is not in this e-mail; you can read it after signing in:"
        )
        lines = [f"{name}: {value}" for name, value in facts]
        body = "\n".join([lead, "", f"{settings.SITE_URL}{page}", "", *lines, ""])
    return Letter(to=study.safety_contact_email, subject=subject, body=body)
