"""A participant's stages as they are offered to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from experiments.models import Participant
from experiments.schedule import Slot, Standing
from questionnaires.course import schedule_of


def stages_of(participant: Participant, *, now: datetime) -> list[Slot]:
    """Every stage of the participant's version at study time ``now``.

    To whoever has left the conversations no other stage is offered, and none of them can be missed;
    what follows a conversation that they had can still be answered.
    """
    slots = schedule_of(participant, now=now)
    if not participant.has_left_chat:
        return slots
    had = set(participant.sessions.values_list("stage_key", flat=True))
    left = participant.chat_left_at or now
    return [
        slot
        if slot.stage.key in had or _was_over(slot, left)
        else replace(slot, standing=Standing.FORGONE)
        for slot in slots
    ]


def _was_over(slot: Slot, moment: datetime) -> bool:
    """Whether a stage without a conversation was lost before that moment."""
    end = slot.closes_at if slot.standing is Standing.MISSED else slot.finish_by
    return slot.standing.over and end is not None and end <= moment
