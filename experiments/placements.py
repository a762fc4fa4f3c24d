"""Where a study's questionnaires are read from, for `experiments` knows no instrument itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from experiments.rules import PlacementConfiguration

if TYPE_CHECKING:
    from experiments.models.study import Study


def placements_of(study: Study) -> tuple[PlacementConfiguration, ...]:
    """The study's questionnaires at their places, as ``settings.QUESTIONNAIRE_PLACEMENTS`` finds
    them. Raises ValidationError if an instrument has no version that could be frozen."""
    found: tuple[PlacementConfiguration, ...] = import_string(settings.QUESTIONNAIRE_PLACEMENTS)(
        study
    )
    return found
