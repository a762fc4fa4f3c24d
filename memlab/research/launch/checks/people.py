"""Who is answerable to participants, and by what they are balanced."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from chat.safety.troubles import safety_troubles
from experiments.enums import AllocationTime, Moment
from experiments.facts import Source
from experiments.strata import Factor, factors
from memlab.research.launch.checks.questionnaires import contents
from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State


def safety(draft: Draft) -> list[Finding]:
    """Somebody is told when a participant seems to be in danger, and the card names hotlines."""
    title, troubles = _("Safety contact and hotlines"), safety_troubles(draft.study)
    if troubles:
        return [
            Finding(
                key="safety",
                title=title,
                state=State.BLOCKING,
                found=" ".join(troubles),
                remedy=_("Name them in the study."),
                url=draft.url,
                overridable=False,
            )
        ]
    found = _("%(name)s is told.") % {"name": draft.study.safety_contact_name}
    return [Finding(key="safety", title=title, state=State.OK, found=found)]


def strata_known(draft: Draft) -> list[Finding]:
    """Every answer or score by which arms are balanced is really asked, and before the draw."""
    title, declared = _("Strata"), draft.configuration.entry.strata
    if not declared:
        found = _("Arms are balanced over everybody, without strata.")
        return [Finding(key="strata", title=title, state=State.OK, found=found)]
    try:
        balanced = factors(declared)
        troubles = [trouble for factor in balanced for trouble in _troubles(factor, draft)]
    except ValidationError as error:
        balanced, troubles = (), error.messages
    if troubles:
        return [
            Finding(
                key="strata",
                title=title,
                state=State.BLOCKING,
                found=" ".join(troubles),
                remedy=_(
                    "Place a questionnaire with that item or subscale before the draw, or change "
                    "the strata."
                ),
                url=draft.url,
                overridable=False,
            )
        ]
    found = ", ".join(factor.name for factor in balanced)
    return [Finding(key="strata", title=title, state=State.OK, found=found)]


def _troubles(factor: Factor, draft: Draft) -> list[str]:
    """Why the level of everybody would be unknown; empty if it isn't."""
    if not _is_asked(factor.source, draft):
        return [_("No questionnaire asks for the source of %(name)s.") % {"name": factor.name}]
    if not _precedes_draw(factor.source, draft):
        return [
            _("The source of %(name)s is asked after the arm is drawn.") % {"name": factor.name}
        ]
    return []


def _precedes_draw(source: Source, draft: Draft) -> bool:
    """Whether it is answered by the moment at which the arm is drawn: at consent, before which
    nothing is asked, or when the conversation of the first stage with manipulation begins."""
    configuration = draft.configuration
    if configuration.allocation_time is AllocationTime.CONSENT:
        return False
    drawn = [stage.number for stage in configuration.stages if stage.manipulation]
    if source.moment in (Moment.SCREENING, Moment.BASELINE) or not drawn:
        return source.moment is not Moment.DEBRIEFING
    if source.moment is Moment.DEBRIEFING:
        return False
    asked = configuration.stage(source.stage).number
    return asked <= min(drawn) if source.moment is Moment.BEFORE else asked < min(drawn)


def _is_asked(source: Source, draft: Draft) -> bool:
    """Whether a questionnaire at the source's place has that item or subscale."""
    asked = contents(draft)
    placed = draft.configuration.placed(source.moment, source.stage)
    return any(
        source.name
        in {item.subscale if source.score else item.code for item in asked[each.instrument].items}
        for each in placed
        if each.instrument in asked
    )
