"""Reminders of a participant's stages: planned with the windows, sent at most once.

Sending is three steps: *claim* (a transaction: the rules are asked, the letter is written, and the
reminder is committed as being sent), *deliver* (the network, no transaction), *settle* (what came
of it). Whoever dies after the claim leaves a reminder of which nobody knows whether it was sent:
when its due row comes back it is marked unknown, and stays so until staff decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from experiments.enums import (
    Clock,
    ParticipantState,
    ReminderChannel,
    ReminderKind,
    ReminderRule,
    ReminderState,
    SessionState,
)
from experiments.models import Participant, Reminder
from experiments.schedule import Slot, Standing
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memlab.journey import letters, timetable
from memlab.journey.letters import Letter, Undelivered

#: So long after its moment a reminder of a stage is still worth sending.
LATE = timedelta(hours=12)
#: Whoever spoke within this time needs no reminder of it.
TALKING_FOR = timedelta(hours=1)
AWAITED = (Standing.LATER, Standing.OPEN, Standing.IN_PROGRESS)
#: Whoever consented is debriefed in the end, those who withdrew too.
DEBRIEFED = (
    ParticipantState.COMPLETE,
    ParticipantState.DROPPED_OUT,
    ParticipantState.WITHDRAWN,
)
OF_STAGES = (ReminderKind.STAGE, ReminderKind.EXTENDED)


# Planning


def plan(participant: Participant, stages: Sequence[Slot], *, wall: datetime) -> None:
    """Have what is planned agree with the participant's stages as they stand now. Safe to repeat.

    The caller holds the participant's row lock. What has left, or expired, stays as it is.
    """
    if participant.clock == Clock.SCRIPTED or participant.version is None:
        return
    channel = participant.version.configuration.reminders.channel
    wanted = {} if channel is ReminderChannel.NONE else _wanted(participant, stages)
    planned = {
        (row.stage_key, row.number): row
        for row in participant.reminders.filter(kind=ReminderKind.STAGE, channel=channel)
    }
    for (stage_key, number), due_at in wanted.items():
        row = planned.get((stage_key, number))
        if row is None:
            _add(participant, ReminderKind.STAGE, stage_key, number, channel, due_at=due_at)
        elif row.due_at < due_at or (row.due_at != due_at and row.sending_at is None):
            row.plan(due_at)  # what was sent before waits for its present moment at least
    ahead = {slot.stage.key for slot in stages if slot.standing in AWAITED}
    for row in participant.reminders.filter(kind__in=OF_STAGES, state=ReminderState.PLANNED):
        if row.stage_key not in ahead:
            row.expire(ReminderRule.STAGE_OVER, wall=wall)
        elif row.kind == ReminderKind.STAGE and (row.stage_key, row.number) not in wanted:
            row.forget()  # its window has moved away; nothing was sent


def _wanted(participant: Participant, stages: Sequence[Slot]) -> dict[tuple[str, int], datetime]:
    """When which reminder of a chain is due, by stage and number from 0."""
    wanted: dict[tuple[str, int], datetime] = {}
    for slot in stages:
        opens = slot.opens_at
        if opens is None or slot.standing not in AWAITED:
            continue
        until = slot.finish_by if slot.standing is Standing.IN_PROGRESS else slot.closes_at
        for number, hours in enumerate(sorted(slot.stage.reminder_hours)):
            if hours == 0 and opens == participant.consented_at:
                continue  # they are there: the stage opened when they agreed to take part
            due_at = opens + timedelta(hours=hours)
            if until is None or due_at < until:
                wanted[slot.stage.key, number] = due_at
    return wanted


def plan_extended(participant: Participant, stage_key: str, *, wall: datetime) -> None:
    """Tell the participant that a window was extended, where they had been told of it."""
    told = participant.reminders.filter(stage_key=stage_key, kind__in=OF_STAGES)
    sent = (ReminderState.SENT, ReminderState.SIMULATED, ReminderState.UNKNOWN)
    if participant.version is None or not told.filter(state__in=sent).exists():
        return
    channel = participant.version.configuration.reminders.channel
    number = told.filter(kind=ReminderKind.EXTENDED).count()
    now = participant.study_time(wall)
    _add(participant, ReminderKind.EXTENDED, stage_key, number, channel, due_at=now)


def plan_debriefing(participant: Participant, *, wall: datetime) -> None:
    """Tell the participant that the debriefing can be read. Safe to repeat: they are told once."""
    if participant.version is None or participant.clock == Clock.SCRIPTED:
        return
    channel = participant.version.configuration.reminders.channel
    if channel is not ReminderChannel.NONE:
        now = participant.study_time(wall)
        _add(participant, ReminderKind.DEBRIEFING, "", 0, channel, due_at=now)


def _add(
    participant: Participant,
    kind: ReminderKind,
    stage_key: str,
    number: int,
    channel: ReminderChannel,
    *,
    due_at: datetime,
) -> None:
    row, made = Reminder.objects.get_or_create(
        participant=participant,
        kind=kind,
        stage_key=stage_key,
        number=number,
        channel=channel,
        defaults={"due_at": due_at},
    )
    if made:
        row.wake_at(participant.wall_time(due_at))


# Sending


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A reminder that this worker, and no other, is sending since ``began`` (wall time)."""

    lab_id: int
    reminder: UUID
    began: datetime
    letter: Letter


def send(lab_id: int, reminder_id: UUID, *, wall: datetime) -> ReminderState | None:
    """Send a reminder whose time has come; what became of it, None if there is none any more."""
    with lab_scope(lab_id):
        claim = _claim(reminder_id, wall=wall)
    if isinstance(claim, Claim):
        failure = _deliver(claim.letter)
        with lab_scope(lab_id):
            return _settle(claim, failure, wall=wall)
    return claim


def _deliver(letter: Letter) -> Undelivered | None:
    try:
        letter.deliver()
    except Undelivered as failure:
        return failure
    return None


def _claim(reminder_id: UUID, *, wall: datetime) -> Claim | ReminderState | None:
    """Decide under lock: sent by us, or already settled by a rule, or nothing to do."""
    reminder = held(reminder_id)
    if reminder is None:
        return None
    if reminder.gave_no_sign(wall=wall):
        reminder.lose("no_sign", wall=wall)
    if reminder.state != ReminderState.PLANNED:
        if reminder.state != ReminderState.SENDING:
            _drop_due(reminder)
        return ReminderState(reminder.state)
    participant = reminder.participant
    now = participant.study_time(wall)
    if now < reminder.due_at:
        reminder.wake_at(participant.wall_time(reminder.due_at))
        return ReminderState.PLANNED
    slot = slot_of(reminder, now=now)
    rule = rule_against(reminder, slot, now=now)
    if rule is None and participant.test_mode:
        reminder.simulate(wall=wall)
    elif rule is None:
        letter = letters.write(reminder, slot, wall=wall)
        if letter is None:
            rule = ReminderRule.NO_ADDRESS
        else:
            reminder.begin(wall=wall, window=letter.window, sequence=letter.sequence)
            return Claim(lab_id=reminder.lab_id, reminder=reminder.pk, began=wall, letter=letter)
    if rule is not None:
        reminder.expire(rule, wall=wall)
    return ReminderState(reminder.state)


def resend(reminder_id: UUID, *, wall: datetime) -> bool:
    """Have staff's decision carried out: one that failed, or of which nobody knows, goes out again.
    False if there is nothing to send again, because somebody else was faster."""
    reminder = held(reminder_id)
    if reminder is None or reminder.state not in (ReminderState.UNKNOWN, ReminderState.FAILED):
        return False
    reminder.resend(wall=wall)
    return True


def held(reminder_id: UUID) -> Reminder | None:
    """The reminder with its participant, both locked, in this order everywhere: so that nobody
    withdraws, pauses or moves a window between the rules and the claim."""
    found = Reminder.objects.filter(pk=reminder_id).values_list("participant_id", flat=True).first()
    if found is None:
        return None
    Participant.objects.select_for_update(no_key=True).get(pk=found)
    return Reminder.objects.all().held(reminder_id)


def _drop_due(reminder: Reminder) -> None:
    Due.objects.settle(lab_id=reminder.lab_id, kind=DueKind.REMINDER, subject=reminder.pk)


def slot_of(reminder: Reminder, *, now: datetime) -> Slot | None:
    """The stage that is reminded of, None for what belongs to none."""
    if reminder.participant.consented_at is None or reminder.kind not in OF_STAGES:
        return None
    stages = timetable.stages_of(reminder.participant, now=now)
    return next((slot for slot in stages if slot.stage.key == reminder.stage_key), None)


def _settle(claim: Claim, failure: Undelivered | None, *, wall: datetime) -> ReminderState | None:
    reminder = held(claim.reminder)
    if reminder is None:
        return None  # erased meanwhile
    if not reminder.awaits(claim.began):
        return ReminderState(reminder.state)
    if failure is None:
        reminder.arrived(wall=wall)
    elif failure.may_have_arrived:
        reminder.lose(failure.code, wall=wall)
    elif failure.may_try_again:
        reminder.try_later(failure.code, wall=wall)
    else:
        reminder.fail(failure.code, wall=wall)
    return ReminderState(reminder.state)


# The rules


def rule_against(reminder: Reminder, slot: Slot | None, *, now: datetime) -> ReminderRule | None:
    """Why this reminder must not be sent now, None if it may."""
    participant = reminder.participant
    if reminder.kind == ReminderKind.DEBRIEFING:
        told = participant.state in DEBRIEFED and participant.anonymised_at is None
        return None if told else ReminderRule.NOT_ACTIVE
    if participant.state != ParticipantState.ACTIVE:
        return ReminderRule.NOT_ACTIVE
    if participant.paused_at is not None:
        return ReminderRule.PAUSED
    if participant.reminders_stopped_at is not None:
        return ReminderRule.STOPPED
    if slot is None or slot.standing.over:
        return ReminderRule.STAGE_OVER
    if slot.standing is Standing.LATER:
        return ReminderRule.NOT_OPEN
    if _overtaken(reminder, now=now):
        return ReminderRule.OVERTAKEN
    if now - reminder.due_at > LATE:
        return ReminderRule.LATE
    return ReminderRule.TALKING if _talking(reminder, now=now) else None


def _overtaken(reminder: Reminder, *, now: datetime) -> bool:
    """Two reminders at once say no more than one: the last that is due is sent."""
    return reminder.participant.reminders.filter(
        kind=reminder.kind,
        stage_key=reminder.stage_key,
        channel=reminder.channel,
        number__gt=reminder.number,
        due_at__lte=now,
    ).exists()


def _talking(reminder: Reminder, *, now: datetime) -> bool:
    return reminder.participant.sessions.filter(
        stage_key=reminder.stage_key,
        state=SessionState.OPEN,
        last_activity_at__gt=now - TALKING_FOR,
    ).exists()
