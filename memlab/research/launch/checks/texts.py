"""What participants read and whom they can turn to: information, consent, safety, debriefing."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from experiments.enums import DebriefingHold
from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State

#: Any of these in an information sheet says that the partner is a machine.
SAYS_AI = re.compile(
    r"\bAIs?\b|artificial intelligence|language model|chatbot|人工智能|大模型|语言模型|AI(?![a-z])",
    re.IGNORECASE,
)


def information(draft: Draft) -> list[Finding]:
    """The information sheet is there and says that the partner is an AI."""
    text, title = draft.configuration.information.strip(), _("Information sheet")
    if not text:
        return [
            Finding(
                key="information",
                title=title,
                state=State.BLOCKING,
                found=_("It is empty."),
                remedy=_("Write what happens, that it is an AI, and where data go."),
                url=draft.url,
                overridable=False,
            )
        ]
    if not SAYS_AI.search(text):
        return [
            Finding(
                key="information",
                title=title,
                state=State.BLOCKING,
                found=_("It doesn't say that participants talk with an AI."),
                remedy=_("Say it in the information sheet."),
                url=draft.url,
            )
        ]
    found = _("It says that participants talk with an AI.")
    return [Finding(key="information", title=title, state=State.OK, found=found)]


def consent(draft: Draft) -> list[Finding]:
    """There is a statement that participants agree to."""
    title = _("Consent statement")
    if not draft.configuration.consent.strip():
        return [
            Finding(
                key="consent",
                title=title,
                state=State.BLOCKING,
                found=_("It is empty."),
                remedy=_("Write what participants agree to."),
                url=draft.url,
                overridable=False,
            )
        ]
    found = _("Participants agree to it before anything is asked of them.")
    return [Finding(key="consent", title=title, state=State.OK, found=found)]


def debriefing(draft: Draft) -> list[Finding]:
    """Participants learn afterwards what it was about, and at some time."""
    rules, title = draft.configuration.debriefing, _("Debriefing")
    if not rules.text.strip():
        return [
            Finding(
                key="debriefing",
                title=title,
                state=State.BLOCKING,
                found=_("There is none: participants never learn what was varied."),
                remedy=_("Write it in the study."),
                url=draft.url,
            )
        ]
    if rules.hold is DebriefingHold.DATE and not rules.after:
        return [
            Finding(
                key="debriefing",
                title=title,
                state=State.BLOCKING,
                found=_("It is held until a date, but no date is set."),
                remedy=_("Set the date in the study."),
                url=draft.url,
                overridable=False,
            )
        ]
    found = (
        _("Shown at the end of participation.")
        if rules.hold is DebriefingHold.NONE
        else _("Held until: %(hold)s.") % {"hold": rules.hold.label}
    )
    return [Finding(key="debriefing", title=title, state=State.OK, found=found)]
