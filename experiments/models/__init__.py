from experiments.models.arm import Arm
from experiments.models.audit import AuditEntry
from experiments.models.calibration import LabCalibration
from experiments.models.key import ProviderKey
from experiments.models.lab import Lab, LabDirectory, Member
from experiments.models.link import EntryLink
from experiments.models.participant import Allocation, AllocationCounter, Consent, Participant
from experiments.models.session import Session
from experiments.models.stage import Stage
from experiments.models.study import Study
from experiments.models.user import User
from experiments.models.version import StudyVersion

__all__ = [
    "Allocation",
    "AllocationCounter",
    "Arm",
    "AuditEntry",
    "Consent",
    "EntryLink",
    "Lab",
    "LabCalibration",
    "LabDirectory",
    "Member",
    "Participant",
    "ProviderKey",
    "Session",
    "Stage",
    "Study",
    "StudyVersion",
    "User",
]
