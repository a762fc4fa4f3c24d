"""The launch checklist: every finding about a study's draft, in the order of reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.translation import gettext as _

from experiments.configuration import StudyConfiguration
from experiments.models import Study
from memlab.research.launch.checks import (
    design,
    models,
    people,
    questionnaires,
    recruiters,
    running,
    texts,
)
from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State

Check = Callable[[Draft], list[Finding]]

CHECKS: tuple[Check, ...] = (
    design.protocol,
    texts.information,
    texts.consent,
    people.safety,
    models.answers,
    models.dated,
    models.real_models,
    models.calibrated,
    design.arms_differ,
    design.recall_feasible,
    design.timetable,
    questionnaires.instruments,
    people.strata_known,
    recruiters.completion_codes,
    recruiters.stages_of_their_own,
    running.payments,
    texts.debriefing,
    running.mail,
    running.webhook,
    running.zone,
    running.target,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """What was found, and the configuration that it was found of; None if there is none yet."""

    findings: tuple[Finding, ...]
    configuration: StudyConfiguration | None

    @property
    def holding_up(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.holds_up)

    @property
    def final(self) -> tuple[Finding, ...]:
        """What no override opens."""
        return tuple(finding for finding in self.holding_up if not finding.overridable)

    def count(self, state: State) -> int:
        return sum(finding.state is state for finding in self.findings)


def checklist(study: Study, *, wall: datetime, checks: Sequence[Check] = CHECKS) -> Checklist:
    """Look at the study's draft, inside a lab's scope; nothing is asked over the network."""
    try:
        configuration = study.configuration()
    except ValidationError as error:
        return Checklist(findings=(_unusable(study, error),), configuration=None)
    draft = Draft(study=study, configuration=configuration, wall=wall)
    findings = [finding for check in checks for finding in check(draft)]
    return Checklist(findings=tuple(findings), configuration=configuration)


def _unusable(study: Study, error: ValidationError) -> Finding:
    return Finding(
        key="configuration",
        title=_("Configuration"),
        state=State.BLOCKING,
        found=" ".join(error.messages),
        remedy=_("Put this right first; the other checks follow then."),
        url=reverse("admin:experiments_study_change", args=[study.pk]),
        overridable=False,
    )
