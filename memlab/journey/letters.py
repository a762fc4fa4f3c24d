"""What a reminder says, and how it leaves: an e-mail with a calendar entry, or a signed webhook.

Written inside the claim's transaction, delivered outside of any. Nothing in a letter depends on the
participant's arm.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.utils import translation

from experiments.enums import ReminderChannel
from experiments.models import Reminder
from experiments.schedule import Slot, Standing
from memlab.core import mail as door
from memlab.core import webhook
from memlab.core.mail import Attachment, MailFailure, MailTrouble
from memlab.core.webhook import HookFailure, HookTrouble
from memlab.journey import addresses, ics, mail
from memlab.journey.mail import Window


class Undelivered(Exception):
    """A letter that isn't known to have arrived. ``code`` says why, without address or text."""

    def __init__(self, code: str, *, may_have_arrived: bool, may_try_again: bool) -> None:
        super().__init__(code)
        self.code = code[:60]
        self.may_have_arrived = may_have_arrived
        self.may_try_again = may_try_again


class Letter(Protocol):
    """``window`` and ``sequence`` are kept with the reminder: what its receiver was told."""

    @property
    def window(self) -> Window: ...

    @property
    def sequence(self) -> int: ...

    def deliver(self) -> None:
        """Raises Undelivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    to: str
    subject: str
    body: str
    attachments: tuple[Attachment, ...]
    unsubscribe: str
    window: Window
    sequence: int

    def deliver(self) -> None:
        try:
            door.send(
                self.to, self.subject, self.body, self.attachments, unsubscribe=self.unsubscribe
            )
        except MailFailure as failure:
            raise Undelivered(
                failure.code,
                may_have_arrived=failure.kind is MailTrouble.UNKNOWN,
                may_try_again=failure.kind is MailTrouble.TEMPORARY,
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    url: str
    secret: str
    payload: dict[str, Any]
    window: Window
    sequence: int

    def deliver(self) -> None:
        try:
            webhook.post(self.url, secret=self.secret, payload=self.payload)
        except HookFailure as failure:
            raise Undelivered(
                failure.code,
                may_have_arrived=failure.kind is HookTrouble.UNKNOWN,
                may_try_again=failure.kind is HookTrouble.TEMPORARY,
            ) from None


def write(reminder: Reminder, slot: Slot | None, *, wall: datetime) -> Letter | None:
    """The letter of a reminder as things stand; None where there is no address."""
    window = _window(slot)
    sequence = _sequence(reminder, window)
    if reminder.channel == ReminderChannel.WEBHOOK:
        return _hook(reminder, window=window, sequence=sequence)
    return _mail(reminder, slot, wall=wall, window=window, sequence=sequence)


def _window(slot: Slot | None) -> Window:
    """What the receiver is told: when they can begin, or by when they must have finished."""
    if slot is None:
        return None, None
    begun = slot.standing is Standing.IN_PROGRESS
    return slot.opens_at, slot.finish_by if begun else slot.closes_at


def _sequence(reminder: Reminder, window: Window) -> int:
    """The calendar entry's revision: one more whenever the window isn't what was last told."""
    last = (
        reminder.participant.reminders.filter(
            stage_key=reminder.stage_key, sending_at__isnull=False
        )
        .order_by("-sequence")
        .first()
    )
    if last is None:
        return 0
    unchanged = (last.told_opens_at, last.told_closes_at) == window
    return last.sequence if unchanged else last.sequence + 1


def _mail(
    reminder: Reminder, slot: Slot | None, *, wall: datetime, window: Window, sequence: int
) -> Mail | None:
    participant = reminder.participant
    to = addresses.email_of(participant)
    if to is None:
        return None
    link = addresses.return_link(participant, wall=wall)
    attachments: tuple[Attachment, ...] = ()
    with translation.override(participant.shown_study.language):
        text = mail.written(reminder, slot, window=window, link=link)
        if slot is not None and window[0] is not None:
            attachments = (
                ics.entry(participant, slot, window=window, sequence=sequence, made_at=wall),
            )
    return Mail(
        to=to,
        subject=text.subject,
        body=text.body,
        attachments=attachments,
        unsubscribe=addresses.stop_link(participant),
        window=window,
        sequence=sequence,
    )


def _hook(reminder: Reminder, *, window: Window, sequence: int) -> Hook | None:
    study = reminder.participant.study
    if not study.webhook_url:
        return None
    return Hook(
        url=study.webhook_url,
        secret=study.webhook_secret(),
        payload={
            "id": str(reminder.pk),
            "kind": reminder.kind,
            "study": str(study.public_id),
            "participant": reminder.participant.code,
            "stage": reminder.stage_key,
            "number": reminder.number,
        },
        window=window,
        sequence=sequence,
    )
