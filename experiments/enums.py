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
    REVOKE_LINK = "revoke_link", _("revoked an entry link")
    INVITE = "invite", _("made personal links")
    EXTEND_WINDOW = "extend_window", _("extended a window")
    EXPORT_REMINDERS = "export_reminders", _("downloaded today's reminders")
    NEW_WEBHOOK_SECRET = "new_webhook_secret", _("made a secret for the webhook")
    RESEND_REMINDER = "resend_reminder", _("had a reminder sent again")
    PUBLISH_INSTRUMENT = "publish_instrument", _("published a version of an instrument")
    IMPORT_INSTRUMENT = "import_instrument", _("imported an instrument")
    RESUME_PARTICIPANT = "resume_participant", _("let a paused participant go on")
    PAUSE_PARTICIPANT = "pause_participant", _("paused a participant")
    CLOSE_ADVERSE_EVENT = "close_adverse_event", _("closed an adverse event")
    PAY = "pay", _("changed a payment")
    EXPORT_PAYMENTS = "export_payments", _("downloaded payments")
    GIVE_CODE = "give_code", _("gave a participant a completion code")
    WRITE_MESSAGE = "write_message", _("wrote to a participant")
    WITHDRAW = "withdraw", _("withdrew a participant")
    SUBJECT_ACCESS = "subject_access", _("downloaded everything about a participant")
    AMEND_STUDY = "amend_study", _("amended the study")
    OVERRIDE_LAUNCH = "override_launch", _("overrode a launch check")
    PREVIEW = "preview", _("previewed as a participant")
    SEE_IDENTIFIER = "see_identifier", _("looked at an identifier")
    START_PILOT = "start_pilot", _("started piloting the study")
    BACK_TO_DRAFT = "back_to_draft", _("took the study back to its draft")
    ARCHIVE_STUDY = "archive_study", _("archived the study")
    DECLARE_VARIED = "declare_varied", _("declared what arms differ in on purpose")
    ASK_MODELS = "ask_models", _("had the study's models asked")


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


class AllocationMethod(TextChoices):
    BLOCKS = "blocks", _("Permuted blocks of random size, in strata")
    SIMPLE = "simple", _("Simple: every draw by the weights alone")
    MINIMISATION = "minimisation", _("Minimisation (Pocock and Simon) over the strata's factors")


class AllocationTime(TextChoices):
    FIRST_ACTIVE_STAGE = "first_active_stage", _("When the first stage with manipulation starts")
    CONSENT = "consent", _("At consent")


class Clock(TextChoices):
    LIVE = "live", _("Wall clock plus an offset that only grows")
    SCRIPTED = "scripted", _("Replay or simulation")


class ParticipantState(TextChoices):
    INVITED = "invited", _("Invited")
    ACTIVE = "active", _("Active")
    INELIGIBLE = "ineligible", _("Not eligible")  # by age or as an earlier participant
    SCREENED_OUT = "screened", _("Screened out")
    DECLINED = "declined", _("Declined")
    DROPPED_OUT = "dropped", _("Dropped out")  # nothing is open any more, not everything done
    WITHDRAWN = "withdrawn", _("Withdrawn")
    COMPLETE = "complete", _("Complete")


class Exclusion(TextChoices):
    """Why somebody who came isn't in the study."""

    AGE = "age", _("Below the minimum age")
    EARLIER = "earlier", _("Took part in an earlier study")
    ERASED = "erased", _("Had their data erased")
    SCREENING = "screening", _("Screened out by an answer")
    PARTICIPATION = "participation", _("Declined to take part")
    SENSITIVE = "sensitive", _("Declined consent to sensitive data")
    ABROAD = "abroad", _("Declined consent to transfer abroad")


class IdentifierKind(TextChoices):
    """What a person is known by outside the study."""

    EMAIL = "email", _("E-mail address")
    PROLIFIC = "prolific", _("Prolific id")
    SONA = "sona", _("SONA code")
    OTHER = "other", _("Id of another recruiter")
    CODE = "code", _("Code of the lab's own")


class RecruiterKind(TextChoices):
    PROLIFIC = "prolific", "Prolific"
    SONA = "sona", "SONA"
    OTHER = "other", _("Another recruiter")


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
    WITHDRAWN = "withdrawn", _("The participant withdrew")


class Moment(TextChoices):
    """When a questionnaire is asked."""

    SCREENING = "screening", _("Screening")
    BASELINE = "baseline", _("Before the first stage")
    BEFORE = "before", _("Before a stage's conversation")
    AFTER = "after", _("After a stage's conversation")
    DEBRIEFING = "debriefing", _("With the debriefing")


class DebriefingHold(TextChoices):
    """What the debriefing waits for, beside the participant's own end."""

    NONE = "none", _("Nothing")
    DATE = "date", _("A date")
    COHORT = "cohort", _("The end of the cohort: the study is closed and nobody is on their way")


class ConsentKind(TextChoices):
    PARTICIPATION = "participation", _("Taking part")
    SENSITIVE = "sensitive", _("Sensitive data")
    ABROAD = "abroad", _("Transfer abroad")
    TELEMETRY = "telemetry", _("Telemetry")
    DEBRIEFED = "debriefed", _("Use of the data, after the debriefing")


class Outcome(TextChoices):
    """How a participation ended: each has a completion code of its own."""

    COMPLETE = "complete", _("Complete")
    SCREENED_OUT = "screened_out", _("Screened out")
    DECLINED = "declined", _("Declined")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    TECHNICAL = "technical", _("Technical problem")


class PaymentState(TextChoices):
    """earned → approved → paid; or withheld, which can still be approved."""

    EARNED = "earned", _("Earned")
    APPROVED = "approved", _("Approved")
    PAID = "paid", _("Paid")
    WITHHELD = "withheld", _("Withheld")


class WithdrawalKind(TextChoices):
    CHAT = "chat", _("From the conversations only")
    ALL = "all", _("From everything that is still to come")
    ANONYMISE = "anonymise", _("From everything, and what leads to the person is removed")
    ERASE = "erase", _("From everything, and all data are erased")


class DeviationKind(TextChoices):
    """What happened in a study that its frozen protocol doesn't provide for."""

    WINDOW_EXTENDED = "window_extended", _("A window was extended")
    PAUSED = "paused", _("A participant was paused")
    RESUMED = "resumed", _("A paused participant was let go on")
    MEMORY_EDITED = "memory_edited", _("A memory was edited")
    STEP_RESTARTED = "step_restarted", _("A memory step was started again")
    CONSOLIDATED = "consolidated", _("A memory was consolidated by hand")
    RESENT = "resent", _("Something was sent again")
    MODEL_FALLBACK = "model_fallback", _("Another model answered")
    DEGRADED_TURN = "degraded_turn", _("A turn was degraded")
    OVERRIDDEN = "overridden", _("Opened although a launch check fails")
    AMENDED = "amended", _("The study was amended")
    ALLOCATED_BY_HAND = "allocated_by_hand", _("An arm was chosen by hand")
    WITHDRAWN_BY_STAFF = "withdrawn_by_staff", _("Staff withdrew a participant")
    SESSION_CLOSED = "session_closed", _("Staff closed a session")
    OTHER = "other", _("Something else")


class DoorUse(TextChoices):
    """What a study needs a model for."""

    TALKING = "talking", _("Talking")
    FALLBACK = "fallback", _("Fallback")
    EXTRACTION = "extraction", _("Extraction")
    EMBEDDING = "embedding", _("Embedding")


class WithdrawnBy(TextChoices):
    PARTICIPANT = "participant", _("The participant")
    STAFF = "staff", _("A member of staff")
    OPERATOR = "operator", _("At the terminal")
    REPLAY = "replay", _("Again, after a restore")


class WithdrawalState(TextChoices):
    REQUESTED = "requested", _("Requested")
    CARRIED_OUT = "carried_out", _("Carried out")


class Lost(TextChoices):
    """How a stage was lost."""

    MISSED = "missed", _("Missed: never begun")
    LAPSED = "lapsed", _("Lapsed: begun, not finished in time")


class ReminderChannel(TextChoices):
    NONE = "none", _("None")
    EMAIL = "email", _("E-mail, with a calendar entry")
    WEBHOOK = "webhook", _("Webhook of the study")
    LIST = "list", _("Today's list, for recruiters that forbid addresses")


class ReminderKind(TextChoices):
    STAGE = "stage", _("A stage is open")
    EXTENDED = "extended", _("A window was extended")
    DEBRIEFING = "debriefing", _("The debriefing can be read")


class ReminderState(TextChoices):
    PLANNED = "planned", _("Planned")
    SENDING = "sending", _("Being sent")
    SENT = "sent", _("Sent")
    SIMULATED = "simulated", _("Simulated (test run)")
    EXPIRED = "expired", _("Expired by rule")
    UNKNOWN = "unknown", _("Unknown: it may have been sent")
    FAILED = "failed", _("Failed")


class ReminderRule(TextChoices):
    """The rule by which a reminder expired."""

    LATE = "late", _("Its moment had long passed")
    OVERTAKEN = "overtaken", _("The next one was due as well")
    STAGE_OVER = "stage_over", _("The stage was done or over")
    NOT_OPEN = "not_open", _("The stage was not open any more")
    TALKING = "talking", _("The participant was in conversation")
    NOT_ACTIVE = "not_active", _("The participant was not active")
    PAUSED = "paused", _("The participant was paused")
    STOPPED = "stopped", _("The participant wanted no reminders")
    NO_ADDRESS = "no_address", _("There was no address")
