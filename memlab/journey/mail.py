"""What e-mails to participants say. No arm, nothing that was said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils import formats
from django.utils.translation import gettext as _

from experiments.enums import ReminderKind
from experiments.models import Participant, Reminder
from experiments.schedule import Slot, Standing
from memlab.journey import addresses

#: When a stage can be begun, and by when it must be; None where there is no such moment.
Window = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class Text:
    subject: str
    body: str


def written(reminder: Reminder, slot: Slot | None, *, window: Window, link: str) -> Text:
    """Subject and plain text of one reminder, in the active language."""
    participant = reminder.participant
    names = {
        "study": participant.shown_study.title,
        "stage": "" if slot is None else slot.stage.title,
    }
    paragraphs = [
        _("Hello,"),
        _opening(reminder, slot) % names,
        *_until(participant, window[1], begun=_begun(slot)),
        _("Your link, for you alone:") + f"\n{link}",
        _("Taking part is voluntary. Your participant code is %(code)s.")
        % {"code": participant.code},
        _("No more reminders:") + f"\n{addresses.stop_link(participant)}",
    ]
    return Text(_subject(reminder, slot) % names, "\n\n".join(paragraphs) + "\n")


def _begun(slot: Slot | None) -> bool:
    return slot is not None and slot.standing is Standing.IN_PROGRESS


def _subject(reminder: Reminder, slot: Slot | None) -> str:
    if reminder.kind == ReminderKind.DEBRIEFING:
        return _("%(study)s: what the study was about")
    if reminder.kind == ReminderKind.EXTENDED:
        return _("%(study)s: you have more time for “%(stage)s”")
    if _begun(slot):
        return _("%(study)s: “%(stage)s” isn't finished yet")
    if reminder.number == 0:
        return _("%(study)s: “%(stage)s” is open")
    return _("%(study)s: “%(stage)s” is still open")


def _opening(reminder: Reminder, slot: Slot | None) -> str:
    if reminder.kind == ReminderKind.DEBRIEFING:
        return _(
            "Thank you for taking part in the study “%(study)s”. You can now read what it was "
            "about."
        )
    if reminder.kind == ReminderKind.EXTENDED:
        return _(
            "You have more time for the part “%(stage)s” of the study “%(study)s” than we told you "
            "before."
        )
    if _begun(slot):
        return _(
            "You have begun the part “%(stage)s” of the study “%(study)s” and not finished it yet. "
            "You can go on where you stopped."
        )
    if reminder.number == 0:
        return _("The part “%(stage)s” of the study “%(study)s” is open for you now.")
    return _("This is a reminder: the part “%(stage)s” of the study “%(study)s” is still open.")


def _until(participant: Participant, closes: datetime | None, *, begun: bool) -> list[str]:
    if closes is None:
        return []
    there = closes.astimezone(ZoneInfo(participant.zone))
    moment = {"moment": formats.date_format(there, "DATETIME_FORMAT"), "zone": participant.zone}
    if begun:
        return [_("You can finish it until %(moment)s (%(zone)s time).") % moment]
    return [_("You can begin it until %(moment)s (%(zone)s time).") % moment]
