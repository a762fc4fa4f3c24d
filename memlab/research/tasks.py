"""What the task cluster runs of research. Arguments are ids only; each is safe to run twice."""

from __future__ import annotations

from uuid import UUID

from memlab.core.clock import wall_now
from memlab.research import erasure


def carry_out_withdrawal(lab_id: int, withdrawal: str) -> bool:
    """Carry out a withdrawal that was asked for; whether there was anything to do."""
    return erasure.carry_out(lab_id, UUID(withdrawal), wall=wall_now())
