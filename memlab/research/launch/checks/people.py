"""Who is answerable to participants, who sends them, and by what they are balanced."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.safety.troubles import safety_troubles
from experiments.enums import Outcome
from experiments.facts import Source
from experiments.strata import factors
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


def completion_codes(draft: Draft) -> list[Finding]:
    """Whoever is sent by a recruiter takes a code back."""
    title, known = _("Completion codes"), set(Outcome)
    codes = draft.study.completion_codes.filter(stage__isnull=True)
    given = {Outcome(outcome) for outcome in codes.values_list("outcome", flat=True)}
    recruiters = [str(recruiter) for recruiter in draft.study.recruiters.select_related("stage")]
    if not recruiters:
        found = _("No recruiter sends people, so none is needed.")
        return [Finding(key="completion_codes", title=title, state=State.OK, found=found)]
    if known <= given:
        found = _("There is one for every way in which participation ends.")
        return [Finding(key="completion_codes", title=title, state=State.OK, found=found)]
    missing = ", ".join(str(outcome.label) for outcome in Outcome if outcome not in given)
    return [
        Finding(
            key="completion_codes",
            title=title,
            state=State.WARNING if Outcome.COMPLETE in given else State.BLOCKING,
            found=_("%(recruiters)s sends people, but there is no code for: %(outcomes)s.")
            % {"recruiters": ", ".join(recruiters), "outcomes": missing},
            remedy=_("Add the recruiter's codes."),
            url=reverse("admin:experiments_completioncode_changelist"),
        )
    ]


def strata_known(draft: Draft) -> list[Finding]:
    """Every answer or score by which arms are balanced is really asked."""
    title, declared = _("Strata"), draft.configuration.entry.strata
    if not declared:
        found = _("Arms are balanced over everybody, without strata.")
        return [Finding(key="strata", title=title, state=State.OK, found=found)]
    try:
        balanced = factors(declared)
        troubles = [
            _("No questionnaire asks for the source of %(name)s.") % {"name": factor.name}
            for factor in balanced
            if not _is_asked(factor.source, draft)
        ]
    except ValidationError as error:
        balanced, troubles = (), error.messages
    if troubles:
        return [
            Finding(
                key="strata",
                title=title,
                state=State.BLOCKING,
                found=" ".join(troubles),
                remedy=_("Place a questionnaire with that item or subscale, or change the strata."),
                url=draft.url,
                overridable=False,
            )
        ]
    found = ", ".join(factor.name for factor in balanced)
    return [Finding(key="strata", title=title, state=State.OK, found=found)]


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
