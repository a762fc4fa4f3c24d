"""Work of the launch pages that needs the network."""

from __future__ import annotations

import asyncio

from memlab.research.launch import probes


def probe_models(lab_id: int, study_id: int, user_id: int | None = None) -> None:
    """Ask a study's models; asking twice adds rows of which the newest counts."""
    asyncio.run(probes.probe(lab_id, study_id, user_id=user_id))
