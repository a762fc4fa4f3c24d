"""Directory tables: outside the policies, so they hold ids, times and counts only, never text."""

from memlab.core.due import Due
from memlab.core.lease import ParticipantLease
from memlab.core.ledger import Job

__all__ = ["Due", "Job", "ParticipantLease"]
