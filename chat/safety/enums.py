"""What a risk is about, how serious it is, who noticed it, and what became of it."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Category(TextChoices):
    """What the danger is."""

    SELF_HARM = "self_harm", _("suicide or self-harm")
    HARM_TO_OTHERS = "harm_to_others", _("harm to others")
    ABUSE = "abuse", _("abuse or violence suffered")
    DANGER = "danger", _("acute danger")
    FILTERED = "filtered", _("refused by the provider's content filter")
    OTHER = "other", _("something else")


class Severity(TextChoices):
    """How serious it is, in the order of C-SSRS ideation: wish, thoughts, then intent or plan.

    ``concern``: a passive wish, distress, something past or about somebody else. ``serious``:
    active thoughts, self-harm, abuse. ``acute``: intent, a plan, preparation, danger now.
    """

    CONCERN = "concern", _("concern")
    SERIOUS = "serious", _("serious")
    ACUTE = "acute", _("acute")

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Source(TextChoices):
    """Who noticed it."""

    RULE = "rule", _("the risk screen's rules")
    MODEL = "model", _("the extraction model")
    CONTENT_FILTER = "filter", _("the provider's content filter")
    STAFF = "staff", _("staff")
    PARTICIPANT = "participant", _("the participant")


class EventState(TextChoices):
    OPEN = "open", _("open")
    ACKNOWLEDGED = "acknowledged", _("acknowledged")
    CLOSED = "closed", _("closed")


class AlertState(TextChoices):
    """How far the e-mail to the safety contact has come; sent at most once."""

    NONE = "none", _("not needed")
    EARLIER = "earlier", _("told with an earlier event")
    QUEUED = "queued", _("waiting to be sent")
    SENDING = "sending", _("being sent")
    SENT = "sent", _("sent")
    UNKNOWN = "unknown", _("unknown: the process ended while sending")
    FAILED = "failed", _("could not be sent")


#: What noticed something in a conversation: its card is shown there. What staff or the participant
#: report they know already.
SHOWS_CARD = (Source.RULE, Source.MODEL, Source.CONTENT_FILTER)
