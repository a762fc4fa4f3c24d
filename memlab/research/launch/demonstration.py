"""Opening a study that is for show: by the same way as any other, with its overrides on record."""

from __future__ import annotations

from datetime import datetime

from experiments.models import Study, StudyVersion
from memlab.research.launch.checklist import checklist
from memlab.research.launch.opening import launch

#: What may fail in a demonstration, and why it may. Anything else keeps it from opening.
REASONS = {
    "offline": "A demonstration: it is to run without keys, and its conversations are no data.",
    "validated": "A demonstration: its questionnaires are stand-ins, marked as not validated.",
}


def open_demonstration(study: Study, *, wall: datetime, user_id: int | None) -> StudyVersion:
    """Override what a demonstration may lack and what really fails. Raises LaunchRefused."""
    failing = {finding.key for finding in checklist(study, wall=wall).holding_up}
    overrides = {key: reason for key, reason in REASONS.items() if key in failing}
    return launch(study, wall=wall, user_id=user_id, overrides=overrides)
