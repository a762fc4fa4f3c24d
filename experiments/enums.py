"""States and choices of an experiment."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class MemberRole(TextChoices):
    OWNER = "owner", _("Owner")
    RESEARCHER = "researcher", _("Researcher")
    ASSISTANT = "assistant", _("Assistant")
    ANALYST = "analyst", _("Analyst")


class AuditAction(TextChoices):
    """What staff did that the audit log keeps."""

    ADD = "add", _("added")
    CHANGE = "change", _("changed")
    DELETE = "delete", _("deleted")
    OPEN_STUDY = "open_study", _("opened the study")
    CLOSE_STUDY = "close_study", _("closed the study")
    ISSUE_LINK = "issue_link", _("made an entry link")
    UNBLIND = "unblind", _("unblinded themselves")
    BLIND_AGAIN = "blind_again", _("blinded themselves again")
    NEW_PASSWORD = "new_password", _("gave a new password")
    OPERATOR_SWITCHED_IN = "operator_switched_in", _("entered the lab as an operator")
    JOB_RESTARTED = "job_restarted", _("started a memory step again")
    CONSOLIDATE_BY_HAND = "consolidate_by_hand", _("had a memory consolidated")
    EDIT_MEMORY = "edit_memory", _("edited a memory")
    EXPORT_TRANSCRIPTS = "export_transcripts", _("downloaded transcripts")
    EXPORT_MEMORY = "export_memory", _("downloaded memories")


class Language(TextChoices):
    CHINESE = "zh-hans", _("Simplified Chinese")
    ENGLISH = "en", _("English")


class StudyStatus(TextChoices):
    DRAFT = "draft", _("Draft")
    PILOTING = "piloting", _("Piloting")
    OPEN = "open", _("Open")
    CLOSED = "closed", _("Closed")
    ARCHIVED = "archived", _("Archived")


class WithinSession(TextChoices):
    """What of the current session's own turns a prompt carries."""

    FULL = "full", _("The whole current session")
    LAST = "last", _("Its last n turns")
    NONE = "none", _("Nothing of it")


class Instruction(TextChoices):
    NEUTRAL = "neutral", _("One neutral wording for all arms")
    SEED = "seed", _("Each memory level's own wording")


class RelevanceScale(TextChoices):
    CALIBRATED = "calibrated", _("Calibrated to [0, 1]")
    RAW = "raw", _("Raw cosine, as in the papers")


class AllocationTime(TextChoices):
    FIRST_ACTIVE_STAGE = "first_active_stage", _("When the first stage with manipulation starts")
    CONSENT = "consent", _("At consent")


class Clock(TextChoices):
    LIVE = "live", _("Wall clock plus an offset that only grows")
    SCRIPTED = "scripted", _("Replay or simulation")


class ParticipantState(TextChoices):
    INVITED = "invited", _("Invited")
    ACTIVE = "active", _("Active")
    DECLINED = "declined", _("Declined")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    COMPLETE = "complete", _("Complete")


class SessionState(TextChoices):
    OPEN = "open", _("Open")
    CLOSING = "closing", _("Closing")
    ENDED = "ended", _("Ended")
    COMPLETE = "complete", _("Complete")
    EXPIRED = "expired", _("Expired")


class Closed(TextChoices):
    """Why a session closed."""

    PARTICIPANT = "participant", _("The participant finished")
    TIMER = "timer", _("Its time was over")
    IDLE = "idle", _("Idle after the minima were met")
    TURNS = "turns", _("Its last turn was used")
    WINDOW = "window", _("The stage's window closed")
    STAFF = "staff", _("By staff")
