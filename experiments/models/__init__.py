from experiments.models.allocation import Allocation, AllocationCounter
from experiments.models.arm import Arm
from experiments.models.audit import AuditEntry
from experiments.models.calibration import LabCalibration
from experiments.models.completion import CompletionCode, IssuedCode
from experiments.models.consent import Consent
from experiments.models.debriefing import DebriefingView
from experiments.models.deviation import Deviation
from experiments.models.identifier import Identifier, Identity, Tombstone
from experiments.models.key import ProviderKey
from experiments.models.lab import Lab, LabDirectory, Member
from experiments.models.link import EntryLink, IssuedLink
from experiments.models.participant import Participant
from experiments.models.payment import Payment
from experiments.models.probe import DoorProbe
from experiments.models.recruiter import Recruiter
from experiments.models.reminder import Reminder
from experiments.models.returning import FailedReturn, ReturnKey
from experiments.models.session import Session
from experiments.models.staff_message import StaffMessage
from experiments.models.stage import Stage
from experiments.models.study import Study
from experiments.models.user import User
from experiments.models.version import StudyVersion
from experiments.models.window import Extension, WindowMark
from experiments.models.withdrawal import ErasureReceipt, Withdrawal

__all__ = [
    "Allocation",
    "AllocationCounter",
    "Arm",
    "AuditEntry",
    "CompletionCode",
    "Consent",
    "DebriefingView",
    "Deviation",
    "DoorProbe",
    "EntryLink",
    "ErasureReceipt",
    "Extension",
    "FailedReturn",
    "Identifier",
    "Identity",
    "IssuedCode",
    "IssuedLink",
    "Lab",
    "LabCalibration",
    "LabDirectory",
    "Member",
    "Participant",
    "Payment",
    "ProviderKey",
    "Recruiter",
    "Reminder",
    "ReturnKey",
    "Session",
    "StaffMessage",
    "Stage",
    "Study",
    "StudyVersion",
    "Tombstone",
    "User",
    "WindowMark",
    "Withdrawal",
]
