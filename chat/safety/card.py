"""The crisis card: what a participant sees outside of the persona, the same in every arm.

Inside a ``lab_scope``. Its words depend on the study's version and on nothing that was said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import AdverseEvent
from chat.safety.hotlines import Hotline, parsed
from experiments.models import Session
from experiments.rules import SafetyRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """``contact`` is the study's contact person; empty where the study names none."""

    title: str
    lines: tuple[str, ...]
    hotlines: tuple[Hotline, ...]
    contact: str
    email: str
    paused: bool


def card_of(rules: SafetyRules, *, language: str, paused: bool) -> Card:
    """The card in the study's language."""
    with translation.override(language):
        first = _(
            "Something in this conversation made us think that you, or someone close to you, may "
            "be going through something very hard, or may not be safe. This note comes from the "
            "study, not from the AI."
        )
        emergency = _(
            "If anyone is in danger right now, please call your local emergency number, or ask a "
            "person near you to do it. The AI can't help in an emergency, and nobody is reading "
            "along."
        )
        going_on = (
            _("The conversation is paused. The study team will look at it and get back to you.")
            if paused
            else _("You can go on with the conversation, or stop at any time.")
        )
        title = _("You don’t have to face this alone")
    return Card(
        title=title,
        lines=(first, emergency, going_on),
        hotlines=parsed(rules.hotlines)[0],
        contact=rules.contact_name,
        email=rules.contact_email,
        paused=paused,
    )


def of_session(session: Session) -> dict[str, Any] | None:
    """The frame of the session's card, or None as long as nothing was noticed in it. ``times``
    counts what was noticed, so that a card that was put away comes back for something new."""
    times = AdverseEvent.objects.with_card().filter(session=session).count()
    if not times:
        return None
    configuration = session.version.configuration
    card = card_of(
        configuration.safety,
        language=configuration.language,
        paused=session.paused_at is not None,
    )
    return frame_of(card, times=times)


def frame_of(card: Card, *, times: int) -> dict[str, Any]:
    """The card as docs/protocol.md has it."""
    return {
        "type": "card",
        "kind": "crisis",
        "times": times,
        "title": card.title,
        "lines": list(card.lines),
        "hotlines": [
            {"name": line.name, "number": line.number, "tel": line.tel, "when": line.when}
            for line in card.hotlines
        ],
        "contact": card.contact,
        "paused": card.paused,
    }


def frames(session: Session) -> tuple[dict[str, Any], ...]:
    """The card for every tab, if there is one: a tab that has it ignores it."""
    frame = of_session(session)
    return () if frame is None else (frame,)
