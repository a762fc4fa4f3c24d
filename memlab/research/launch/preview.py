"""A look at a study through a participant's eyes, in an arm of one's choice.

What is made is a test run: it can skip days, is counted apart and out of every export by default.
Its arm is a row of the stratum ``preview``, which no counter knows, so that no sequence moves on.
"""

from __future__ import annotations

from datetime import datetime

from experiments.enums import AuditAction
from experiments.models import Allocation, AuditEntry, Participant, Study, StudyVersion

STRATUM = "preview"


class NoSuchArm(Exception):
    """The version that a preview would run under has no arm of that key."""


def start_preview(
    study: Study, *, arm_key: str, wall: datetime, user_id: int | None
) -> Participant:
    """A test run with its arm, before anything else. Raises NoSuchArm.

    It enters by the same pages as everybody and pins the version at its consent: of an open study
    the running one, else the draft as it stands. One transaction, the caller's.
    """
    Study.objects.select_for_update().get(pk=study.pk)  # positions are taken one at a time
    version = study.version()
    if arm_key not in {arm.key for arm in version.configuration.arms}:
        raise NoSuchArm(arm_key)
    participant = Participant.objects.create(study=study, test_mode=True)
    earlier = Allocation.objects.filter(version=version, stratum=STRATUM, test_mode=True)
    Allocation.objects.create(
        participant=participant,
        version=version,
        arm_key=arm_key,
        stratum=STRATUM,
        test_mode=True,
        position=earlier.count(),
        block=0,
        block_size=1,
        study_at=participant.study_time(wall),
    )
    AuditEntry.objects.record(
        AuditAction.PREVIEW,
        user_id=user_id,
        target=study,
        participant=participant.pk,
        arm=arm_key,
        version=version.number,
    )
    return participant


def previews_of(study: Study) -> list[Participant]:
    """Test runs that were started as previews, the latest first."""
    found = Participant.objects.filter(
        study=study, test_mode=True, allocations__stratum=STRATUM
    ).order_by("-pk")
    return list(found.prefetch_related("allocations").select_related("version")[:20])


def arm_of(preview: Participant) -> str:
    """The key of the arm that was chosen for it."""
    return str(preview.allocations.all()[0].arm_key)


def is_outdated(preview: Participant, version: StudyVersion) -> bool:
    """Whether it has not consented yet, and the version that it would run under has lost its arm:
    after an amendment, or since the draft was changed. Nobody can go on with it."""
    return preview.version is None and not preview.fits(version)
