"""Types and states of questionnaires."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class ItemType(TextChoices):
    """``LIKERT`` items that follow each other on a page with the same options make one matrix."""

    LIKERT = "likert", _("Likert")
    SINGLE = "single", _("One of several")
    MULTIPLE = "multiple", _("Several of several")
    SLIDER = "slider", _("Slider")
    DIFFERENTIAL = "differential", _("Semantic differential")
    PICTURE = "picture", _("Picture scale (IOS)")
    NUMBER = "number", _("Number")
    TEXT = "text", _("Text")
    DATE = "date", _("Date")


#: Items whose points measure: they can be reversed, and make a score without being told to.
SCALES = frozenset({ItemType.LIKERT, ItemType.SLIDER, ItemType.DIFFERENTIAL, ItemType.PICTURE})
#: Items whose answer is one number, which a subscale can hold.
NUMERIC = SCALES | {ItemType.SINGLE, ItemType.NUMBER}
CHOICES = frozenset({ItemType.LIKERT, ItemType.SINGLE, ItemType.MULTIPLE})
#: The picture scale (inclusion of other in the self) has seven pictures.
PICTURES = (1.0, 7.0)


class MissingRule(TextChoices):
    """What a subscale's score is when answers are missing."""

    NONE = "none", _("No score if any is missing")
    SHARE = "share", _("Mean of those answered, from a share of them on")


class ScoreKind(TextChoices):
    MEAN = "mean", _("Mean")
    SUM = "sum", _("Sum")


class ResponseState(TextChoices):
    OPEN = "open", _("Open")
    COMPLETE = "complete", _("Complete")
    EXPIRED = "expired", _("Expired")


class Missing(TextChoices):
    """Why an item has no value."""

    SKIPPED = "skipped", _("Skipped")
    NOT_SHOWN = "not_shown", _("Not shown")
    TIMED_OUT = "timed_out", _("Timed out")
    REMOVED = "removed", _("Removed at the participant's wish")
