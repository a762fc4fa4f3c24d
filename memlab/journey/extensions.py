"""Extensions by staff: one participant may begin a stage, or finish it, until later than planned.

What can be extended is a window that has an end and isn't done with: one that is coming, open, or
begun. One that was missed is opened again only while the follow-up hasn't moved on: no later stage
was begun, and the debriefing hasn't been read. What was begun and lapsed stays lapsed, for its
conversation is remembered and its questionnaires are closed as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from chat import sessions
from experiments.enums import DeviationKind, ParticipantState, SessionState
from experiments.models import Deviation, Extension, Participant, WindowMark
from experiments.schedule import Slot, Standing
from memlab.journey import reminders, stages, timetable
from questionnaires import responses

EXTENDABLE = (Standing.LATER, Standing.OPEN, Standing.IN_PROGRESS, Standing.MISSED)
BEGUN = (Standing.IN_PROGRESS, Standing.DONE, Standing.LAPSED)
#: A later end is a slip of the pen.
LONGEST = timedelta(days=366)
GOING_ON = (ParticipantState.ACTIVE, ParticipantState.DROPPED_OUT)


def extendable(slots: Sequence[Slot]) -> list[Slot]:
    """Stages whose window staff may extend now."""
    return [slot for slot in slots if _refusal(slots, slot) is None]


def extend(
    participant: Participant,
    stage_key: str,
    *,
    until: datetime,
    reason: str,
    user_id: int | None,
    wall: datetime,
) -> Extension:
    """Let a stage be begun until ``until`` (study time), with everything that follows from it.

    Raises ValidationError if it can't be, or if ``until`` wouldn't put the end off.
    """
    slots = stages.follow(participant, wall=wall)
    person = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    slot = next((slot for slot in slots if slot.stage.key == stage_key), None)
    if slot is None:
        raise ValidationError(_("There is no such stage in the version of this participant."))
    _check(person, slots, slot, until=until, now=person.study_time(wall))
    extension = Extension.objects.create(
        participant=person, stage_key=stage_key, until=until, reason=reason, user_id=user_id
    )
    if slot.standing is Standing.MISSED:
        _open_again(person, slots, extension)
    Deviation.objects.record(
        DeviationKind.WINDOW_EXTENDED,
        study=person.study_id,
        participant=person,
        user_id=user_id,
        study_at=person.study_time(wall),
        stage=stage_key,
        until=until.isoformat(),
        missed=slot.standing is Standing.MISSED,
    )
    _keep_open(person, stage_key, wall=wall)
    reminders.plan_extended(person, stage_key, wall=wall)
    stages.follow(person, wall=wall)
    return extension


def _check(
    person: Participant, slots: Sequence[Slot], slot: Slot, *, until: datetime, now: datetime
) -> None:
    if person.state not in GOING_ON:
        raise ValidationError(_("This participant doesn't take part any more."))
    if person.debriefings.exists():
        raise ValidationError(_("This participant has read the debriefing. Nothing comes after."))
    refusal = _refusal(slots, slot)
    if refusal is not None:
        raise ValidationError(refusal)
    assert slot.closes_at is not None
    if until <= max(slot.closes_at, now):
        raise ValidationError(
            _("An extension must end later than the window does now, and later than this moment.")
        )
    if until > max(slot.closes_at, now) + LONGEST:
        raise ValidationError(_("An extension is of a year at most."))


def _refusal(slots: Sequence[Slot], slot: Slot) -> str | None:
    if slot.standing not in EXTENDABLE:
        return _("This stage is done, or it was begun and not finished in time.")
    if slot.closes_at is None:
        return _("This stage has no end, or it isn't known yet when it opens.")
    later = [other for other in slots if other.stage.number > slot.stage.number]
    if slot.standing is Standing.MISSED and any(other.standing in BEGUN for other in later):
        return _("A later stage has been begun: what was missed before it stays missed.")
    return None


def _open_again(person: Participant, slots: Sequence[Slot], extension: Extension) -> None:
    """The missed stage, and those after it that were missed with it, are to come again."""
    number = next(s.stage.number for s in slots if s.stage.key == extension.stage_key)
    again = [slot.stage.key for slot in slots if slot.stage.number >= number]
    WindowMark.objects.all().lift(person, again, extension)
    responses.reopen(person, again)
    person.take_up_again()


def _keep_open(person: Participant, stage_key: str, *, wall: datetime) -> None:
    """A conversation under way goes on until the new end."""
    session = person.sessions.filter(stage_key=stage_key, state=SessionState.OPEN).first()
    if session is None:
        return
    slots = timetable.stages_of(person, now=person.study_time(wall))
    finish_by = next(slot.finish_by for slot in slots if slot.stage.key == stage_key)
    if finish_by is not None:
        sessions.extend(session, finish_by)
