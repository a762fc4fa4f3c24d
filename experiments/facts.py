"""What a study may go by of a participant's answers and scores: to screen out, to balance arms.

`experiments` knows no questionnaire itself; ``settings.QUESTIONNAIRE_FACTS`` names what looks them
up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _now

from experiments.enums import Moment

if TYPE_CHECKING:
    from experiments.models.participant import Participant

_OF_A_STAGE = (Moment.BEFORE, Moment.AFTER)


@dataclass(frozen=True, slots=True)
class Source:
    """An answer or a score: ``screening:age_group``, ``baseline:score:trust``,
    ``after:t1:closeness``, ``after:t1:score:closeness``. A name is an item's code, or a subscale's
    where it is a score."""

    moment: Moment
    name: str
    stage: str = ""
    score: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValidationError, which says how it is to be written."""
        parts = text.split(":")
        if parts[0] in Moment.values and all(parts):
            moment = Moment(parts.pop(0))
            stage = parts.pop(0) if moment in _OF_A_STAGE and parts else ""
            score = len(parts) == 2 and parts[0] == "score"
            if len(parts) == 1 + score and bool(stage) == (moment in _OF_A_STAGE):
                return cls(moment, parts[-1], stage, score)
        raise ValidationError(
            _now(
                "%(source)s names no answer or score. Write screening:item, baseline:item, "
                "before:stage:item or after:stage:item, and score: before the name of a subscale."
            )
            % {"source": text or "“”"}
        )


def value_of(participant: Participant, source: Source) -> Any:
    """The answer as it was given (a number, a text, a list of numbers), or the score; None where
    there is none."""
    return import_string(settings.QUESTIONNAIRE_FACTS)(participant, source)
