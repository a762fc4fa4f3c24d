"""Where a participant belongs: one decision for every page that leads on.

What is known is loaded first, and the decision is pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.urls import reverse

from experiments.enums import Moment, ParticipantState, SessionState
from experiments.models import Participant, Session
from experiments.schedule import Slot, Standing
from memlab.journey import debriefing, entry, stages
from questionnaires import responses
from questionnaires.models import Response

#: The participation is over, one way or another.
ENDED = frozenset(
    {
        ParticipantState.INELIGIBLE,
        ParticipantState.SCREENED_OUT,
        ParticipantState.DECLINED,
        ParticipantState.DROPPED_OUT,
        ParticipantState.WITHDRAWN,
        ParticipantState.COMPLETE,
    }
)
#: Those who stayed to the end of what was offered are led to the debriefing by themselves.
LED_TO_DEBRIEFING = frozenset({ParticipantState.COMPLETE, ParticipantState.DROPPED_OUT})


class Step(StrEnum):
    ENTRY = "entry"  # something is missing before the first stage
    PAUSED = "paused"
    BEFORE = "before"  # a questionnaire before the conversation
    CONVERSATION = "conversation"
    AFTER = "after"  # a questionnaire after it
    COMPLETE = "complete"  # nothing is missing of the stage but that this is written down
    DEBRIEFING = "debriefing"
    END = "end"
    HOME = "home"


class Talk(StrEnum):
    """The conversation of the stage that was begun."""

    NOT_YET = "not_yet"
    UNDER_WAY = "under_way"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The stage that was begun and isn't finished: what is still to be answered of it."""

    talk: Talk
    before_missing: bool = False
    after_missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What decides where a participant belongs. ``debriefing_waits``: it may be read, and hasn't
    been."""

    state: ParticipantState
    paused: bool = False
    entry_missing: bool = False
    debriefing_waits: bool = False
    stage: Begun | None = None


def decide(known: Known) -> Step:
    """The one place where a participant belongs."""
    if known.state in ENDED:
        leads = known.debriefing_waits and known.state in LED_TO_DEBRIEFING
        return Step.DEBRIEFING if leads else Step.END
    if known.paused:
        return Step.PAUSED
    if known.entry_missing:
        return Step.ENTRY
    if known.stage is None:
        return Step.HOME
    return _within(known.stage)


def _within(stage: Begun) -> Step:
    if stage.talk is Talk.UNDER_WAY:
        return Step.CONVERSATION
    if stage.talk is Talk.NOT_YET:
        return Step.BEFORE if stage.before_missing else Step.CONVERSATION
    return Step.AFTER if stage.after_missing else Step.COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What was found of a participant, and the addresses that go with it."""

    known: Known
    entry_url: str = ""
    stage_key: str = ""
    session: Session | None = None
    response: Response | None = None

    def url(self) -> str:
        """The address of the step that was decided."""
        step = decide(self.known)
        if step is Step.ENTRY:
            return self.entry_url
        if step in (Step.BEFORE, Step.AFTER):
            assert self.response is not None
            return reverse("questionnaires:answer", args=[self.response.pk])
        if step is Step.CONVERSATION and self.session is None:
            return reverse("journey:stage", args=[self.stage_key])
        if step in (Step.CONVERSATION, Step.COMPLETE):
            assert self.session is not None
            talking = step is Step.CONVERSATION
            name = "chat:conversation" if talking else "journey:after"
            return reverse(name, args=[self.session.pk])
        return reverse(f"journey:{step}")


def next_page(participant: Participant, *, wall: datetime) -> str:
    """The address to which the participant is to go now.

    Brings their stages up to ``wall`` first, and opens the questionnaire that they belong to. Who
    has just answered the last thing of a stage is told that it is complete before they go on.
    """
    ended = list(participant.sessions.filter(state=SessionState.ENDED))
    slots = stages.follow(participant, wall=wall)
    participant.refresh_from_db()
    completed = Session.objects.filter(
        pk__in=[session.pk for session in ended], state=SessionState.COMPLETE
    ).last()
    if completed is not None:
        return reverse("journey:done", args=[completed.stage_key])
    return find(participant, slots, wall=wall).url()


def find(participant: Participant, slots: list[Slot], *, wall: datetime) -> Place:
    """Load what decides, no more of it than is needed."""
    outside = find_outside(participant, wall=wall)
    if outside is not None:
        return outside
    state = ParticipantState(participant.state)
    begun = next((slot for slot in slots if slot.standing is Standing.IN_PROGRESS), None)
    if begun is None:
        return Place(known=Known(state=state))
    return _find_in_stage(participant, state, begun.stage.key, wall=wall)


def find_outside(participant: Participant, *, wall: datetime) -> Place | None:
    """Where a participant belongs who may see neither their overview nor a stage now: those who are
    not in the study yet or any more, or who are paused. None for everybody else."""
    state = ParticipantState(participant.state)
    if state in ENDED:
        waits = debriefing.waits_for(participant, wall=wall)
        return Place(known=Known(state=state, debriefing_waits=waits))
    if participant.paused_at is not None:
        return Place(known=Known(state=state, paused=True))
    missing = entry.next_page(participant)
    if missing is not None:
        return Place(known=Known(state=state, entry_missing=True), entry_url=missing)
    return None


def _find_in_stage(
    participant: Participant, state: ParticipantState, key: str, *, wall: datetime
) -> Place:
    session = participant.sessions.filter(stage_key=key).first()
    talk = _talk(session)
    response: Response | None = None
    if talk is not Talk.UNDER_WAY:
        moment = Moment.BEFORE if talk is Talk.NOT_YET else Moment.AFTER
        response = responses.next_open(participant, moment, key, wall=wall)
    stage = Begun(
        talk=talk,
        before_missing=talk is Talk.NOT_YET and response is not None,
        after_missing=talk is Talk.OVER and response is not None,
    )
    return Place(
        known=Known(state=state, stage=stage), stage_key=key, session=session, response=response
    )


def _talk(session: Session | None) -> Talk:
    if session is None:
        return Talk.NOT_YET
    under_way = session.state in (SessionState.OPEN, SessionState.CLOSING)
    return Talk.UNDER_WAY if under_way else Talk.OVER
