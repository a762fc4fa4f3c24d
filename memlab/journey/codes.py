"""Completion codes: shown only once the server has seen that everything is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from experiments.enums import Moment, Outcome, ParticipantState, SessionState
from experiments.models import CompletionCode, IssuedCode, Participant
from memlab.journey import stages
from questionnaires import responses
from questionnaires.enums import ResponseState
from questionnaires.models import Response

#: The outcome of a participation that is over; who dropped out has none.
OUTCOMES = {
    ParticipantState.COMPLETE: Outcome.COMPLETE,
    ParticipantState.INELIGIBLE: Outcome.SCREENED_OUT,
    ParticipantState.SCREENED_OUT: Outcome.SCREENED_OUT,
    ParticipantState.DECLINED: Outcome.DECLINED,
    ParticipantState.WITHDRAWN: Outcome.WITHDRAWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCode:
    """A code for the page; ``url`` is where the recruiter wants its people back, or empty."""

    outcome: Outcome
    code: str
    url: str
    stage_key: str = ""


def of_study(participant: Participant, *, wall: datetime) -> ShownCode | None:
    """The code of how the whole participation ended."""
    outcome = OUTCOMES.get(ParticipantState(participant.state))
    if outcome is None or not _is_stored(participant, outcome):
        return None
    return _reveal(participant, outcome, wall=wall)


def of_stage(participant: Participant, stage_key: str, *, wall: datetime) -> ShownCode | None:
    """The code of a stage that is a recruiter's study of its own, once the stage is complete."""
    session = participant.sessions.filter(stage_key=stage_key).first()
    if session is None or session.state != SessionState.COMPLETE or not stages.is_stored(session):
        return None
    return _reveal(participant, Outcome.COMPLETE, stage_key=stage_key, wall=wall)


def given(participant: Participant, *, wall: datetime) -> list[ShownCode]:
    """Codes that staff gave for technical problems."""
    rows = IssuedCode.objects.filter(
        participant=participant, outcome=Outcome.TECHNICAL, given_by__isnull=False
    )
    found = [
        _reveal(participant, Outcome.TECHNICAL, stage_key=row.stage_key, wall=wall) for row in rows
    ]
    return [code for code in found if code is not None]


def _reveal(
    participant: Participant, outcome: Outcome, *, stage_key: str = "", wall: datetime
) -> ShownCode | None:
    """The study's code of an outcome; that it is shown is recorded the first time."""
    where = {"stage__key": stage_key} if stage_key else {"stage": None}
    row = CompletionCode.objects.filter(
        study=participant.study_id, outcome=outcome, **where
    ).first()
    if row is None:
        return None
    IssuedCode.objects.shown(participant, outcome, stage_key=stage_key, code=row.code, wall=wall)
    return ShownCode(outcome=outcome, code=row.code, url=row.address(), stage_key=stage_key)


def _is_stored(participant: Participant, outcome: Outcome) -> bool:
    """Whether everything that such an outcome leaves behind is there, row by row."""
    if outcome is Outcome.COMPLETE:
        return _all_stages(participant) and all(
            responses.is_complete(participant, moment)
            for moment in (Moment.SCREENING, Moment.BASELINE)
        )
    if outcome is Outcome.WITHDRAWN:
        under_way = (SessionState.OPEN, SessionState.CLOSING)
        return not participant.sessions.filter(state__in=under_way).exists()
    return not Response.objects.filter(participant=participant, state=ResponseState.OPEN).exists()


def _all_stages(participant: Participant) -> bool:
    assert participant.version is not None
    done = {
        session.stage_key: session
        for session in participant.sessions.filter(state=SessionState.COMPLETE)
    }
    keys = [stage.key for stage in participant.version.configuration.stages]
    return all(key in done and stages.is_stored(done[key]) for key in keys)
