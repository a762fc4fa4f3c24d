"""Which calibration a study gets: the lab's own measurement, else the one that ships."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from experiments.configuration import CalibrationPoint, DoorChoice
from experiments.models.calibration import LabCalibration
from memlab.core.embeddings.calibration import PairForm, shipped_measurement
from memlab.core.embeddings.local import ID as LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCalibration:
    """A point and the relevance of each true question–answer pair, ascending, in [0, 1]."""

    point: CalibrationPoint
    evidence: tuple[float, ...]


def embedder_id(choice: DoorChoice) -> str:
    """The id that an embedder's rows carry; vectors of different ids are never compared."""
    return LOCAL if choice.provider == "local" else f"{choice.provider}:{choice.model}"


def calibration_of(choice: DoorChoice, language: str, form: PairForm) -> KnownCalibration | None:
    """What is known of an embedder in the active lab, or None if it was never measured."""
    embedder = embedder_id(choice)
    own = LabCalibration.objects.filter(
        embedder=embedder, language=language, form=str(form)
    ).first()
    if own is not None:
        return KnownCalibration(
            point=CalibrationPoint(low=own.low, high=own.high), evidence=tuple(own.evidence)
        )
    shipped = shipped_measurement(embedder, language, form)
    if shipped is None:
        return None
    point = CalibrationPoint(low=shipped.calibration.low, high=shipped.calibration.high)
    return KnownCalibration(point=point, evidence=shipped.evidence)


def points_of(choice: DoorChoice, language: str) -> dict[str, CalibrationPoint]:
    """The points of every form; ValidationError with the remedy if one is missing."""
    points = {}
    for form in PairForm:
        known = calibration_of(choice, language, form)
        if known is None:
            raise ValidationError(
                _(
                    "The embedder %(embedder)s has not been calibrated for %(language)s. Run "
                    "`manage.py calibrate_study` with this study's id, or choose raw relevance."
                )
                % {"embedder": embedder_id(choice), "language": language}
            )
        points[str(form)] = known.point
    return points
