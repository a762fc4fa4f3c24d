"""Directory tables: outside the policies, so they hold ids, times and counts only, never text."""

from memlab.core.due import Due
from memlab.core.ledger import Job
from memlab.core.lease import ParticipantLease

__all__ = ["Due", "Job", "ParticipantLease"]
