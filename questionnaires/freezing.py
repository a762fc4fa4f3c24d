"""What a study's frozen configuration says of its questionnaires."""

from __future__ import annotations

from dataclasses import replace

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from experiments.enums import Moment
from experiments.models import Study
from experiments.rules import PlacementConfiguration
from questionnaires.checks import complete_in
from questionnaires.models import Instrument, InstrumentVersion, Placement


def placements_of(study: Study) -> tuple[PlacementConfiguration, ...]:
    """The study's questionnaires at their places, each with the version that its instrument's draft
    comes to now; it is published on the way, which leaves nothing new where nothing has changed.

    Raises ValidationError with every reason why something can't be asked, all at once.
    """
    frozen, troubles = [], []
    versions: dict[int, InstrumentVersion | ValidationError] = {}
    placements = Placement.objects.filter(study=study).select_related("stage", "instrument")
    for placement in placements:
        try:
            frozen.append(_frozen(placement, study, versions))
        except ValidationError as error:
            troubles += [
                _("Questionnaire %(place)s: %(trouble)s")
                % {"place": _place(placement), "trouble": message}
                for message in error.messages
            ]
    if troubles:
        raise ValidationError(troubles)
    return tuple(frozen)


def copy_placements(study: Study, copied: Study) -> None:
    """Named in ``settings.STUDY_COPIES``: a duplicate asks what its original asks."""
    Placement.objects.copy(study, copied)


def _frozen(
    placement: Placement,
    study: Study,
    versions: dict[int, InstrumentVersion | ValidationError],
) -> PlacementConfiguration:
    placement.clean()
    place = PlacementConfiguration(
        moment=Moment(placement.moment),
        stage="" if placement.stage is None else placement.stage.key,
        position=placement.position,
        external_url=placement.external_url,
        half=placement.half,
    )
    if placement.instrument is None:
        return place
    version = _version(placement.instrument, study, versions)
    return replace(
        place,
        instrument=placement.instrument.key,
        version=version.number,
        sha256=version.sha256,
    )


def _version(
    instrument: Instrument,
    study: Study,
    versions: dict[int, InstrumentVersion | ValidationError],
) -> InstrumentVersion:
    """Each instrument is published once, however often the study asks it."""
    if instrument.pk not in versions:
        try:
            version = instrument.publish()
            if not complete_in(version.content, study.language):
                raise ValidationError(
                    _(
                        "%(key)s has no text in the study's language, %(language)s. Translate "
                        "every item of it, or ask another instrument."
                    )
                    % {"key": instrument.key, "language": study.get_language_display()}
                )
            versions[instrument.pk] = version
        except ValidationError as error:
            versions[instrument.pk] = error
    found = versions[instrument.pk]
    if isinstance(found, ValidationError):
        raise found
    return found


def _place(placement: Placement) -> str:
    stage = "" if placement.stage is None else f"{placement.stage.key} · "
    return f"{stage}{placement.get_moment_display()} · {placement.position}"
