"""What the task cluster runs for participants on their way. Ids only; each is safe to run twice."""

from __future__ import annotations

from uuid import UUID

from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.journey import debriefing, reminders, stages


def follow_windows(lab_id: int, participant: str) -> None:
    """A stage has opened or closed for a participant."""
    with lab_scope(lab_id):
        stages.follow_by_id(UUID(participant), wall=wall_now())


def send_reminder(lab_id: int, reminder: str) -> str:
    """Send a reminder whose time has come; the state that it is in then."""
    return str(reminders.send(lab_id, UUID(reminder), wall=wall_now()) or "")


def release_debriefing(lab_id: int, participant: str) -> bool:
    """A debriefing may have been held long enough; whether its participant is told of it now."""
    with lab_scope(lab_id):
        return debriefing.release(lab_id, UUID(participant), wall=wall_now())
