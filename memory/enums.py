"""Kinds and choices of memories."""

from __future__ import annotations

from enum import StrEnum

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class MemoryKind(TextChoices):
    """What sort of memory a row, an event or a line of a receipt is about."""

    EPISODE = "episode", _("Episode")
    TRAIT = "trait", _("Trait of the profile")
    COMPRESSIBLE = "compressible", _("Memory that compresses")
    BELIEF = "belief", _("Belief")
    LOG = "log", _("Log")
    BINNED = "binned", _("Item of a bin")
    SLOW = "slow", _("Slow variables")
    RETAINED = "retained", _("Retained item")
    TOOL = "tool", _("Tool call")


class EventKind(TextChoices):
    """What happened to a memory."""

    ENCODED = "encoded", _("Encoded")
    RECALLED = "recalled", _("Recalled and strengthened")
    MENTIONED = "mentioned", _("Mentioned again")
    REINFORCED = "reinforced", _("Reinforced")
    WEAKENED = "weakened", _("Weakened")
    UPDATED = "updated", _("Reworded")
    COMPRESSED = "compressed", _("Compressed")
    MERGED = "merged", _("Merged with a mention")
    ARCHIVED = "archived", _("Archived")
    WOKEN = "woken", _("Woken from the archive")
    REHEARSED = "rehearsed", _("Offered for rehearsal")
    SHIFTED = "shifted", _("Shifted by sleep")
    MOVED = "moved", _("Moved by a turn")
    EXPIRED = "expired", _("Expired")
    EVICTED = "evicted", _("Evicted for want of room")
    FORGOTTEN = "forgotten", _("Forgotten")
    REFUSED = "refused", _("Refused")
    EDITED = "edited", _("Edited by staff")


class Cause(TextChoices):
    """What brought a change about."""

    CONSOLIDATION = "consolidation", _("Consolidation of a session")
    RECALL = "recall", _("Recall by a reply")
    OBSERVATION = "observation", _("Observation of a turn")
    MENTION = "mention", _("Mention by the participant")
    TOOL = "tool", _("Tool call by the model")
    PASSIVE = "passive", _("Passage of time")
    SLEEP = "sleep", _("Sleep consolidation")
    CAPACITY = "capacity", _("Capacity")
    SESSION_START = "session_start", _("Start of a session")
    STAFF = "staff", _("Edit by staff")


class ProfilePart(TextChoices):
    """The nine dimensions of the profile, in the order in which they are rendered."""

    BASIC_INFO = "basic_info", _("Basic information")
    PREFERENCES = "preferences", _("Preferences")
    CONSTRAINTS = "constraints", _("Constraints")
    GOALS = "goals", _("Goals")
    PERSONALITY = "personality", _("Personality")
    SOCIAL = "social", _("Social life")
    EMOTIONAL_NEEDS = "emotional_needs", _("Emotional needs")
    CORE_VALUES = "core_values", _("Core values")
    SIGNIFICANT_EVENTS = "significant_events", _("Significant events")


class RunPart(TextChoices):
    """What of a session, or of a turn, one run has written."""

    EPISODES = "episodes", _("Episodes")
    PROFILE = "profile", _("Profile")
    STATEMENTS = "statements", _("Statements")
    TURN = "turn", _("Turn")
    LOG = "log", _("Log")
    SLEEP = "sleep", _("Sleep")
    BEGIN = "begin", _("Begin")


class Bin(TextChoices):
    """The four bins of a homeostatic memory, in the order in which they are rendered."""

    FACT = "fact", _("Fact")  # verifiable, of little emotion
    RELATION = "relation", _("Relation")  # preferences, boundaries, promises, taboos
    AFFECT = "affect", _("Affect")  # what moves the participant, and how
    STYLE = "style", _("Style")  # how the agent spoke in such a state


class SleepTrigger(TextChoices):
    """What set off a sleep consolidation."""

    SESSION_END = "session_end", _("End of a session")
    IDLE = "idle", _("Idleness")
    INTERVAL = "interval", _("Time since the last one")
    NIGHT = "night", _("Night")
    BY_HAND = "by_hand", _("By hand")


class EventTag(TextChoices):
    """What happened in a turn, as it was appraised; several may hold."""

    PRAISE = "praise", _("praise")
    GRATITUDE = "gratitude", _("gratitude")
    AFFECTION = "affection", _("affection")
    JOY = "joy", _("joy")
    DISTRESS = "distress", _("distress")
    LOSS = "loss", _("loss")
    DISCLOSURE = "disclosure", _("disclosure")
    CRITICISM = "criticism", _("criticism")
    INSULT = "insult", _("insult")
    THREAT_LIKE = "threat_like", _("threat")
    REJECTION = "rejection", _("rejection")
    BOUNDARY = "boundary", _("boundary")
    HIGH_SURPRISE = "high_surprise", _("great surprise")  # not appraised: follows from |RPE|


class Encode(StrEnum):
    """Which messages become episodes."""

    USER = "user"  # one a message of the participant's, of finished turns
    TURN = "turn"  # one a finished turn
    ALL = "all"  # one a message, whoever said it: dialogues between people


class Encoding(StrEnum):
    """What an episode's vector is made from."""

    IN_CONTEXT = "in_context"  # the message together with the one before it
    MESSAGE = "message"  # the message alone


class Ranking(StrEnum):
    """By what a search orders memories."""

    DENSE = "dense"  # the similarity of embeddings
    HYBRID = "hybrid"  # meaning and words, each alone and in context, fused


class TimeUnit(StrEnum):
    """In what an elapsed time is counted."""

    DAYS = "days"
    HOURS = "hours"
    MINUTES = "minutes"

    @property
    def seconds(self) -> float:
        return {TimeUnit.DAYS: 86400.0, TimeUnit.HOURS: 3600.0, TimeUnit.MINUTES: 60.0}[self]


class RetentionUnit(StrEnum):
    """In what the time since an item was last needed is counted."""

    DAYS = "days"
    TURNS = "turns"


class Shelf(TextChoices):
    """Where an item is kept."""

    WORKING = "working", _("Working set")
    ARCHIVED = "archived", _("Archive")


class Reason(TextChoices):
    """Why a memory did or didn't go into the prompt; a receipt's last column."""

    RECALLED = "recalled", _("Recalled")
    DRAWN = "drawn", _("Drawn at random")
    PROFILE = "profile", _("Part of the profile")
    BELOW_THRESHOLD = "below_threshold", _("Below the threshold")
    FORGOTTEN = "forgotten", _("Forgotten: not even a perfect cue would bring it back")
    BEYOND_LIMIT = "beyond_limit", _("Passed, but others ranked higher")
    NOT_DRAWN = "not_drawn", _("Not drawn")
    OVER_BUDGET = "over_budget", _("Left out: beyond the budget")
    BOOTED = "booted", _("Part of every prompt")
    UNCERTAIN = "uncertain", _("Shown as uncertain")
    HIDDEN = "hidden", _("Hidden: too little confidence")
    ARCHIVED = "archived", _("In the archive")
    WOKEN = "woken", _("Woken by this message")
    WORKING_SET = "working_set", _("In the working set")
    REHEARSED = "rehearsed", _("Offered for rehearsal")
    EXAMPLE = "example", _("Example of style")
    NOT_CALLED_FOR = "not_called_for", _("The state doesn't call for an example of style")
