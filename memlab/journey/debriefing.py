"""The debriefing: when it may be read, by whom, and that they hear of it.

It belongs to the version that a participant consented to, and to everybody who consented: whoever
completed the study, dropped out, or withdrew. It may be held until a date or until the cohort's
end; a due row waits for that moment, so that those who won't come by themselves are told.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from experiments.enums import DebriefingHold, Moment, ParticipantState, StudyStatus
from experiments.models import DebriefingView, Participant, Study
from experiments.rules import DebriefingRules
from memlab.core.due import Due, DueKind
from memlab.journey import reminders
from memlab.journey.reminders import DEBRIEFED
from questionnaires import responses

#: How often a held cohort is looked at: its end has no moment that could be known before.
LOOK_AGAIN = timedelta(hours=1)
#: So long somebody may take to read what they are led to.
WHILE_THERE = timedelta(hours=1)


def rules_of(participant: Participant) -> DebriefingRules | None:
    """The debriefing that the participant is to read some day; None if there is none for them."""
    if participant.state not in DEBRIEFED or participant.version is None:
        return None
    rules = participant.version.configuration.debriefing
    return rules if rules.text.strip() and participant.consented_at is not None else None


def is_released(
    rules: DebriefingRules, *, now: datetime, cohort_over: bool, test_mode: bool
) -> bool:
    """Whether what the debriefing waits for has come. A test run belongs to no cohort."""
    if rules.hold is DebriefingHold.DATE:
        return not rules.after or datetime.fromisoformat(rules.after) <= now
    return rules.hold is DebriefingHold.NONE or test_mode or cohort_over


def date_of(rules: DebriefingRules) -> datetime | None:
    """The date that the debriefing is held until, where it is held until one."""
    held = rules.hold is DebriefingHold.DATE and rules.after
    return datetime.fromisoformat(rules.after) if held else None


def cohort_over(study: Study) -> bool:
    """Whether the study takes nobody any more and nobody who consented is on their way."""
    if study.status not in (StudyStatus.CLOSED, StudyStatus.ARCHIVED):
        return False
    real = Participant.objects.filter(study=study, test_mode=False)
    return not real.filter(state=ParticipantState.ACTIVE).exists()


def may_read(participant: Participant, *, wall: datetime) -> bool:
    """Whether the participant may read their debriefing now."""
    rules = rules_of(participant)
    if rules is None:
        return False
    return is_released(
        rules,
        now=participant.study_time(wall),
        cohort_over=rules.hold is DebriefingHold.COHORT and cohort_over(participant.study),
        test_mode=participant.test_mode,
    )


def waits_for(participant: Participant, *, wall: datetime) -> bool:
    """Whether there is a debriefing that may be read and hasn't been."""
    return _is_owed(participant) and may_read(participant, wall=wall)


def asks_first(participant: Participant) -> bool:
    """Whether questionnaires come before the text. Nothing is asked of whoever withdrew."""
    if participant.state == ParticipantState.WITHDRAWN:
        return False
    return not responses.is_complete(participant, Moment.DEBRIEFING)


def plan(participant: Participant, *, wall: datetime) -> None:
    """Have the participant told when their debriefing can be read, in the transaction that ends
    their participation. Whoever has completed the study is led to one that isn't held, and is told
    of it only if they haven't read it an hour later."""
    rules = rules_of(participant)
    if rules is None:
        return
    now = participant.study_time(wall)
    after = datetime.fromisoformat(rules.after) if rules.after else now
    moment = max(after, now) if rules.hold is DebriefingHold.DATE else now
    if participant.state == ParticipantState.COMPLETE and may_read(participant, wall=wall):
        moment = now + WHILE_THERE
    Due.objects.plan(
        lab_id=participant.lab_id,
        kind=DueKind.DEBRIEFING,
        subject=participant.public_id,
        study_at=moment,
        wall_at=participant.wall_time(moment),
    )


def release(lab_id: int, public_id: UUID, *, wall: datetime) -> bool:
    """Tell a participant that their debriefing can be read, if it can; whether it was planned now.

    Planning the mail and settling the due row are one transaction. Safe to repeat.
    """
    row: dict[str, Any] = {"lab_id": lab_id, "kind": DueKind.DEBRIEFING, "subject": public_id}
    participant = (
        Participant.objects.select_for_update(of=("self",), no_key=True)
        .select_related("study")
        .filter(public_id=public_id)
        .first()
    )
    if participant is None or not _is_owed(participant):
        Due.objects.settle(**row)
        return False
    if not may_read(participant, wall=wall):
        again = wall + LOOK_AGAIN
        Due.objects.plan(**row, study_at=participant.study_time(again), wall_at=again)
        return False
    reminders.plan_debriefing(participant, wall=wall)
    Due.objects.settle(**row)
    return True


def _is_owed(participant: Participant) -> bool:
    """Whether there is a debriefing that the participant hasn't read."""
    seen = DebriefingView.objects.filter(participant=participant).exists()
    return rules_of(participant) is not None and not seen
