"""Kinds and choices of memories."""

from __future__ import annotations

from enum import StrEnum

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class MemoryKind(TextChoices):
    """What sort of memory a row, an event or a line of a receipt is about."""

    EPISODE = "episode", _("Episode")
    TRAIT = "trait", _("Trait of the profile")


class EventKind(TextChoices):
    """What happened to a memory."""

    ENCODED = "encoded", _("Encoded")
    RECALLED = "recalled", _("Recalled and strengthened")


class Cause(TextChoices):
    """What brought a change about."""

    CONSOLIDATION = "consolidation", _("Consolidation of a session")
    RECALL = "recall", _("Recall by a reply")


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
    """What of a session one consolidation run has written."""

    EPISODES = "episodes", _("Episodes")
    PROFILE = "profile", _("Profile")


class Encode(StrEnum):
    """Which messages become episodes."""

    USER = "user"  # one a message of the participant's, of finished turns
    TURN = "turn"  # one a finished turn
    ALL = "all"  # one a message, whoever said it: dialogues between people


class Encoding(StrEnum):
    """What an episode's vector is made from."""

    IN_CONTEXT = "in_context"  # the message together with the one before it
    MESSAGE = "message"  # the message alone


class TimeUnit(StrEnum):
    """In what an elapsed time is counted."""

    DAYS = "days"
    HOURS = "hours"
    MINUTES = "minutes"

    @property
    def seconds(self) -> float:
        return {TimeUnit.DAYS: 86400.0, TimeUnit.HOURS: 3600.0, TimeUnit.MINUTES: 60.0}[self]


class Reason(TextChoices):
    """Why a memory did or didn't go into the prompt; a receipt's last column."""

    RECALLED = "recalled", _("Recalled")
    DRAWN = "drawn", _("Drawn at random")
    PROFILE = "profile", _("Part of the profile")
    BELOW_THRESHOLD = "below_threshold", _("Below the threshold")
    FORGOTTEN = "forgotten", _("Forgotten: not even a perfect cue would bring it back")
    BEYOND_LIMIT = "beyond_limit", _("Passed, but others ranked higher")
    NOT_DRAWN = "not_drawn", _("Not drawn")
    OVER_BUDGET = "over_budget", _("Left out of the profile's budget")
