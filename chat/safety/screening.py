"""Screening by the extraction model, where a study wants it: planned with the message (see
``chat.safety.events``), done by a task outside of the turn.

The model's answer is checked field by field. A hit has the same consequences as a rule's, only
later. An answer that can't be used, or none, is asked for again; after five attempts the message is
on the back office's home as not screened by the model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chat import doorbell
from chat.models import Message, ModelScreening
from chat.safety import events
from chat.safety.enums import Category, Severity, Source
from chat.safety.prompts import risk_prompt
from chat.safety.screen import Risk
from experiments.configuration import StudyConfiguration
from experiments.doors import OpenDoors
from experiments.models import Session
from memlab.core.due import Due, DueKind
from memlab.core.llm.base import ModelFailure
from memlab.core.tenancy import lab_scope
from memlab.core.values import Statement
from memlab.core.work import unit

_CATEGORIES = {
    each.value: each
    for each in (Category.SELF_HARM, Category.HARM_TO_OTHERS, Category.ABUSE, Category.DANGER)
}


class UnusableAnswer(Exception):
    """The model's answer isn't what was asked for; ``code`` says in what way."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a model is asked about one message."""

    configuration: StudyConfiguration
    material: tuple[Statement, ...]


async def screen(lab_id: int, message: UUID, keeper: OpenDoors, *, wall: datetime) -> bool:
    """Ask the model about a message and do what follows; whether it was asked and did answer.

    Dead before ``_finish``: the attempt is counted, and the due row brings another. Dead after it:
    nothing is left to do.
    """
    asking = await unit(_begin, lab_id, message, wall=wall)
    if asking is None:
        return False
    try:
        doors = await keeper.doors(lab_id, asking.configuration)
        prompt = risk_prompt(language=asking.configuration.language, material=asking.material)
        answer = await doors.extraction.complete(prompt, json=True)
        risk = risk_in(answer.text)
    except (ModelFailure, UnusableAnswer) as failure:
        code = str(failure.kind) if isinstance(failure, ModelFailure) else failure.code
        await unit(_fail, lab_id, message, code, wall=wall)
        return False
    session, frames = await unit(_finish, lab_id, message, risk, wall=wall)
    if session is not None and frames:
        await doorbell.ring(session, *frames)
    return True


def risk_in(answer: str) -> Risk | None:
    """The risk that a model's answer names, None if it says that there is none. Raises
    UnusableAnswer for anything else."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        found = json.loads(answer[start : end + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UnusableAnswer("no_json")
    category, severity = found.get("category"), found.get("severity")
    if category == "none" and severity in ("none", None):
        return None
    if not isinstance(category, str) or category not in _CATEGORIES:
        raise UnusableAnswer("bad_category")
    if not isinstance(severity, str) or severity not in Severity.values:
        raise UnusableAnswer("bad_severity")
    return Risk(_CATEGORIES[category], Severity(severity), "model")


def _locked(lab_id: int, message: UUID) -> ModelScreening | None:
    rows = ModelScreening.objects.select_for_update().filter(lab_id=lab_id, message=message)
    return rows.first()


def _begin(lab_id: int, message: UUID, *, wall: datetime) -> Asking | None:
    with lab_scope(lab_id):
        row = _locked(lab_id, message)
        if row is None:
            Due.objects.settle(lab_id=lab_id, kind=DueKind.SCREEN, subject=message)
            return None
        if not row.begin(wall=wall):
            return None
        subject = Message.objects.get(pk=message)
        session = Session.objects.with_study().get(pk=subject.session_id)
        earlier = Message.objects.filter(session=session, seq__lt=subject.seq).exclude(text="")
        said = [*reversed(earlier.order_by("-seq")[:2]), subject]
        return Asking(
            configuration=session.version.configuration,
            material=tuple(Statement(id=each.role, text=each.text) for each in said),
        )


def _fail(lab_id: int, message: UUID, code: str, *, wall: datetime) -> None:
    with lab_scope(lab_id):
        row = _locked(lab_id, message)
        if row is not None:
            row.fail(code, wall=wall)


def _finish(
    lab_id: int, message: UUID, risk: Risk | None, *, wall: datetime
) -> tuple[UUID | None, tuple[dict[str, object], ...]]:
    with lab_scope(lab_id):
        subject = Message.objects.filter(lab_id=lab_id, pk=message).first()
        if subject is None:
            return None, ()
        session = (
            Session.objects.with_study().select_for_update(of=("self",)).get(pk=subject.session_id)
        )
        row = _locked(lab_id, message)
        if row is None:
            return None, ()
        row.finish(wall=wall)
        if risk is None:
            return session.id, ()
        return session.id, events.notice(subject, session, Source.MODEL, risk, wall=wall)
