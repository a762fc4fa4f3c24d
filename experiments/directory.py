"""Finding a study from outside any lab, for commands at the terminal."""

from __future__ import annotations

from uuid import UUID

from django.core.management import CommandError

from experiments.models import LabDirectory, Study
from memlab.core.tenancy import lab_scope


def find_study(public_id: str) -> Study:
    """The study with this public id, in whichever lab; CommandError with the remedy otherwise."""
    try:
        wanted = UUID(public_id)
    except ValueError:
        raise CommandError(
            f"{public_id!r} is no study id: copy it from the study's page in the admin."
        ) from None
    for lab_id in LabDirectory.objects.values_list("lab_id", flat=True):
        with lab_scope(lab_id):
            study = Study.objects.filter(public_id=wanted).first()
            if study is not None:
                return study
    raise CommandError(f"There is no study {public_id}.")
