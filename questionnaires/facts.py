"""Answers and scores by which a study screens out and balances its arms."""

from __future__ import annotations

from typing import Any

from experiments.facts import Source
from experiments.models import Participant
from questionnaires.models import Answer, Score


def value_of(participant: Participant, source: Source) -> Any:
    """The answer as it was given, or the score; None where there is none.

    Where several questionnaires of one moment have an item or a subscale of that name, the first
    one that was answered counts.
    """
    where = {
        "lab_id": participant.lab_id,
        "response__participant": participant,
        "response__moment": source.moment,
        "response__stage_key": source.stage,
    }
    if source.score:
        found = Score.objects.filter(**where, subscale=source.name, value__isnull=False)
        return found.order_by("response__position").values_list("value", flat=True).first()
    answers = Answer.objects.filter(**where, item=source.name, raw__isnull=False)
    return answers.order_by("response__position").values_list("raw", flat=True).first()
