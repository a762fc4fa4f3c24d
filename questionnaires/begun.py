"""Which stages a participant has begun by answering a questionnaire before the conversation."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Min

from experiments.enums import Moment
from experiments.models import Participant
from questionnaires.enums import Missing, ResponseState
from questionnaires.models import Answer, Response


def begun_stages(participant: Participant) -> dict[str, datetime]:
    """The first answer before each stage's conversation, in study time; an external survey counts
    from when its participant came back."""
    before = {"participant": participant, "moment": Moment.BEFORE}
    answered = (
        Answer.objects.filter(**{f"response__{name}": value for name, value in before.items()})
        .exclude(missing=Missing.TIMED_OUT)
        .order_by()
        .values_list("response__stage_key")
        .annotate(Min("answered_at"))
    )
    completed = (
        Response.objects.filter(**before, state=ResponseState.COMPLETE)
        .order_by()
        .values_list("stage_key")
        .annotate(Min("completed_at"))
    )
    begun = dict(completed)
    for stage, at in answered:
        begun[stage] = min(at, begun.get(stage, at))
    return begun
