"""Studies that could be opened, for tests of what happens when one thing is missing."""

from __future__ import annotations

from typing import Any

from experiments.models import Lab, Study
from experiments.models.probe import DoorProbe
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.studies import make_study

READY: dict[str, Any] = {
    "information": "You will talk with an AI.",
    "time_zone": "Europe/Berlin",
    "safety_contact_name": "Dr. Ada",
    "safety_contact_email": "ada@example.org",
    "hotlines": "Helpline | 116 123 | day and night",
    "debriefing": "We varied what it remembers.",
    "target_size": 40,
    "talking_provider": "dashscope",
    "talking_model": "qwen-plus-2025-07-28",
    "extraction_provider": "dashscope",
    "extraction_model": "qwen-plus-2025-07-28",
}


def ready_study(lab: Lab, **fields: Any) -> Study:
    """A study in which nothing holds up the launch: its models have answered, and memories last."""
    defaults = {
        "arms": {"working": "working", "hybrid": ("hybrid", {"recall_threshold": 0.2})},
        "stages": {"window_hours": 72},
    }
    study = make_study(lab, **{**READY, **defaults, **fields})
    with lab_scope(lab.pk):
        for use in ("talking", "extraction"):
            choice = study.door(use)
            DoorProbe.objects.create(
                study=study,
                use=use,
                provider=choice.provider,
                model=choice.model,
                key_id=choice.key,
                answered=True,
                answered_model=choice.model,
                milliseconds=320.4,
                at=wall_now(),
            )
    return study
